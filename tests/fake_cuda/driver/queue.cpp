// Streams and events: queues, and the order in which they run. The protocol is in driver.h.
#include "driver.h"
#include <vector>

namespace fake {

Driver driver;

namespace {

bool can_run(const Stream& stream) {
    if (stream.queue.empty()) return false;
    const Operation& next = stream.queue.front();
    return !next.wait || next.wait->done >= next.generation;
}

template <class Visit> void for_each_stream(Visit visit) {
    for (Context& context : driver.contexts) visit(context.null_stream);
    for (auto& entry : driver.streams) visit(*entry.second);
}

void run_next(Stream& stream) {
    Operation& next = stream.queue.front();
    if (next.run && (next.always || stream.context->sticky == SUCCESS) && !next.run()) return;
    stream.queue.pop_front();
    if (stream.destroyed && stream.queue.empty()) driver.streams.erase(&stream);
}

/// Runs one operation of a random stream; false where none can run.
bool run_any() {
    std::vector<Stream*> ready;
    for_each_stream([&](Stream& stream) {
        if (can_run(stream)) ready.push_back(&stream);
    });
    if (ready.empty()) return false;
    run_next(*ready[driver.random() % ready.size()]);
    return true;
}

std::shared_ptr<Event> find_event(void* handle) {
    const auto found = driver.events.find(handle);
    return found == driver.events.end() ? nullptr : found->second;
}

/// An operation that is done when it has run once.
std::function<bool()> at_once(std::function<void()> run) {
    return [run = std::move(run)] {
        run();
        return true;
    };
}

/// In half of the calls an operation runs first, so that polling ends, but not at once.
Result query(Context& context, const std::function<bool()>& finished) {
    if (!finished() && driver.random() % 2) run_any();
    if (context.sticky != SUCCESS) return context.sticky;
    return finished() ? SUCCESS : NOT_READY;
}

} // namespace

Stream* find_stream(void* handle) {
    if (reinterpret_cast<uintptr_t>(handle) <= 2) {
        Context* context = current_context();
        return context ? &context->null_stream : nullptr;
    }
    const auto found = driver.streams.find(static_cast<Stream*>(handle));
    return found == driver.streams.end() || found->second->destroyed ? nullptr : found->second.get();
}

Result submit(Stream& stream, std::function<void()> run) {
    if (stream.context->sticky == SUCCESS) stream.queue.push_back({at_once(std::move(run)), nullptr});
    return stream.context->sticky;
}

Result submit_launch(Stream& stream, std::function<bool()> run) {
    if (driver.fail_after && --driver.fail_after == 0) {
        Context* context = stream.context;
        run = at_once([context] { context->sticky = LAUNCH_FAILED; });
    }
    if (stream.context->sticky == SUCCESS) stream.queue.push_back({std::move(run), nullptr});
    return stream.context->sticky;
}

Result submit_counted(Stream& stream, std::function<void()> run) {
    return submit_launch(stream, at_once(std::move(run)));
}

Result submit_release(Stream& stream, std::function<void()> run) {
    stream.queue.push_back({at_once(std::move(run)), nullptr, 0, true});
    return stream.context->sticky;
}

Result run_until(Context& context, const std::function<bool()>& finished) {
    while (!finished()) {
        if (run_any()) continue;
        complain("every stream waits for an event that is never recorded");
        context.sticky = LAUNCH_FAILED;
        discard_queues(context);
    }
    return context.sticky;
}

Result synchronize_stream(Stream& stream) {
    return run_until(*stream.context, [&] { return stream.queue.empty(); });
}

Result synchronize_context(Context& context) {
    return run_until(context, [&] {
        bool empty = true;
        for_each_stream([&](Stream& stream) { empty &= stream.context != &context || stream.queue.empty(); });
        return empty;
    });
}

void discard_queues(Context& context) {
    std::vector<Stream*> mine;
    for_each_stream([&](Stream& stream) {
        if (stream.context == &context) mine.push_back(&stream);
    });
    for (Stream* stream : mine) {
        for (Operation& operation : stream->queue) {
            if (operation.always) operation.run();
        }
        stream->queue.clear();
        if (stream->destroyed) driver.streams.erase(stream);
    }
}

} // namespace fake

using namespace fake;

API cuStreamCreate(void** out, unsigned) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Context* context = current_context();
    if (!context) return INVALID_CONTEXT;
    auto stream = std::make_unique<Stream>(Stream{context, {}});
    *out = stream.get();
    driver.streams[stream.get()] = std::move(stream);
    return context->sticky;
}

API cuStreamCreateWithPriority(void** out, unsigned flags, int) { return cuStreamCreate(out, flags); }

API cuStreamDestroy_v2(void* handle) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream || !driver.streams.count(stream)) return INVALID_HANDLE;
    const Result sticky = stream->context->sticky;
    stream->destroyed = true;
    if (stream->queue.empty()) driver.streams.erase(stream);
    return sticky;
}

API cuStreamSynchronize(void* handle) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    ++driver.stats.stream_synchronizations;
    return synchronize_stream(*stream);
}

API cuStreamQuery(void* handle) {
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    return query(*stream->context, [&] { return stream->queue.empty(); });
}

API cuStreamWaitEvent(void* handle, void* event_handle, unsigned) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    const auto event = find_event(event_handle);
    if (!stream || !event) return INVALID_HANDLE;
    if (event->recorded) stream->queue.push_back({nullptr, event, event->recorded, false});
    return stream->context->sticky;
}

API cuStreamGetCtx(void* handle, void** context) {
    MAY_FAIL;
    Lock lock(driver.lock);
    const Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    *context = stream->context;
    return SUCCESS;
}

API cuStreamIsCapturing(void*, int* status) {
    *status = 0;
    return SUCCESS;
}

API cuLaunchHostFunc(void* handle, void (*function)(void*), void* argument) {
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    return stream ? submit(*stream, [=] { function(argument); }) : INVALID_HANDLE;
}

API cuEventCreate(void** out, unsigned) {
    MAY_FAIL;
    Lock lock(driver.lock);
    if (!current_context()) return INVALID_CONTEXT;
    auto event = std::make_shared<Event>();
    *out = event.get();
    driver.events[event.get()] = std::move(event);
    return current_context()->sticky;
}

API cuEventDestroy_v2(void* handle) {
    MAY_FAIL;
    // queued waits keep it alive
    Lock lock(driver.lock);
    return driver.events.erase(handle) ? SUCCESS : INVALID_HANDLE;
}

API cuEventRecord(void* handle, void* stream_handle) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Stream* stream = find_stream(stream_handle);
    const auto event = find_event(handle);
    if (!stream || !event) return INVALID_HANDLE;
    const uint64_t generation = ++event->recorded;
    // Runs even in a failed context: others that wait for it must not hang.
    return submit_release(*stream, [=] { event->done = std::max(event->done, generation); });
}

API cuEventSynchronize(void* handle) {
    MAY_FAIL;
    Lock lock(driver.lock);
    const auto event = find_event(handle);
    if (!event || !current_context()) return INVALID_HANDLE;
    ++driver.stats.event_synchronizations;
    return run_until(*current_context(), [&] { return event->done >= event->recorded; });
}

API cuEventQuery(void* handle) {
    MAY_FAIL;
    Lock lock(driver.lock);
    const auto event = find_event(handle);
    if (!event || !current_context()) return INVALID_HANDLE;
    return query(*current_context(), [&] { return event->done >= event->recorded; });
}

API cuEventElapsedTime(float* milliseconds, void* from, void* to) { // the fake has no clock
    Lock lock(driver.lock);
    const auto first = find_event(from), last = find_event(to);
    if (!first || !last || !first->recorded || !last->recorded) return INVALID_HANDLE;
    if (first->done < first->recorded || last->done < last->recorded) return NOT_READY;
    *milliseconds = 0;
    return SUCCESS;
}

API cuEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
    return cuEventElapsedTime(milliseconds, from, to);
}
