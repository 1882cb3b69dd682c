//! The imports of the files of a crate (`use` declarations outside of tests) form no circle, and the steps of a modification are taken in
//! one file.

use crate::support::sources::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The path of a module, from the root of the crate.
type Module = Vec<String>;

/// A file: what it imports, and what it exports again under the last name of the path.
#[derive(Default)]
struct File {
    imports: Vec<Module>,
    exports: BTreeMap<String, Module>,
    text: String,
}

/// All files of this folder of the sources, by module, if it exists.
fn files(folder: &str) -> Option<BTreeMap<Module, File>> {
    let mut found = BTreeMap::new();
    let folder = sources()?.join(folder);
    // The kernels are a package of their own.
    if folder.is_dir() {
        collect(&folder, &[], &mut found);
        assert!(found.len() > 50, "the sources are in {}", folder.display());
    }
    Some(found)
}

fn collect(folder: &Path, module: &[String], to: &mut BTreeMap<Module, File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let inside: Module = module.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            collect(&path, &inside, to);
        } else {
            let own = if name == "mod" || name == "lib" { module.to_vec() } else { inside };
            let file = file(&own, &fs::read_to_string(&path).unwrap());
            to.insert(own, file);
        }
    }
}

/// Reads the `use` declarations of a file, without those of its tests.
fn file(module: &[String], text: &str) -> File {
    let mut file = File::default();
    let mut kept = Vec::new();
    let mut lines = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    while let Some(line) = lines.next() {
        let for_tests = line.starts_with("#[cfg(") && line.contains("test");
        if for_tests
            && lines.clone().find(|line| !line.starts_with("#[")).is_some_and(|line| line.ends_with('{'))
        {
            break;
        }
        kept.push(line);
    }
    file.text = kept.join("\n");
    for declaration in file.text.split(';') {
        let start = declaration
            .rfind("\nuse ")
            .or_else(|| declaration.rfind(" use ").filter(|_| declaration.contains("pub")));
        let Some(start) = start.or_else(|| declaration.starts_with("use ").then_some(0)) else { continue };
        let exported =
            declaration[..start].trim_end().rsplit('\n').next().is_some_and(|line| line.starts_with("pub"))
                && !declaration[start..].starts_with('\n');
        let tree = declaration[start..].trim_start().trim_start_matches("use ");
        for path in paths(tree) {
            let Some(full) = absolute(module, &path) else { continue };
            match exported {
                true => drop(file.exports.insert(full.last().unwrap().clone(), full)),
                false => file.imports.push(full),
            }
        }
    }
    file
}

/// The paths of a tree of imports.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_string()];
    };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let (mut found, mut depth, mut part) = (Vec::new(), 0, String::new());
    for c in inside.chars().chain([',']) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            let name = part.trim();
            match name {
                "" => {}
                "self" => found.push(before.trim_end_matches("::").to_string()),
                name => found.extend(paths(&format!("{before}{name}"))),
            }
            part.clear();
        } else {
            part.push(c);
        }
    }
    found
}

/// The path from the root of the crate, if it is in the crate.
fn absolute(module: &[String], path: &str) -> Option<Module> {
    let names: Vec<_> = path.split("::").map(|name| name.trim().to_string()).collect();
    let from = match names[0].as_str() {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => {
            let up = names.iter().take_while(|name| *name == "super").count();
            let rest = names[up..].iter().cloned();
            return Some(module[..module.len() - up].iter().cloned().chain(rest).collect());
        }
        _ => return None,
    };
    Some(from.into_iter().chain(names[1..].iter().cloned()).collect())
}

/// The file in which the last name of a path is defined.
fn defined_in(files: &BTreeMap<Module, File>, path: &[String]) -> Module {
    let longest = (0..=path.len()).rev().find(|&len| files.contains_key(&path[..len])).unwrap();
    let module = &path[..longest];
    match path.get(longest).and_then(|name| files[module].exports.get(name)) {
        Some(elsewhere) if elsewhere != path => {
            let full: Module = elsewhere.iter().chain(&path[longest + 1..]).cloned().collect();
            defined_in(files, &full)
        }
        _ => module.to_vec(),
    }
}

#[test]
fn imports_form_no_circle() {
    for (folder, least) in [("src", 500), ("kernels/cpu/src", 100)] {
        let Some(files) = files(folder) else { return };
        no_circle(&files, if files.is_empty() { 0 } else { least });
    }
}

/// There are at least this many imports, and they form no circle.
fn no_circle(files: &BTreeMap<Module, File>, least: usize) {
    let mut imports: BTreeMap<&Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, file) in files {
        let mut from: BTreeSet<_> = file.imports.iter().map(|path| defined_in(files, path)).collect();
        from.retain(|other| other != module && !other.is_empty());
        imports.insert(module, from);
    }
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() >= least, "the imports are found");
    // Takes away files that import nothing of those that are left.
    while let Some(&free) =
        imports.keys().find(|module| imports[*module].iter().all(|other| !imports.contains_key(other)))
    {
        imports.remove(free);
    }
    let circle: Vec<_> = imports.keys().map(|module| module.join("/")).collect();
    assert!(
        circle.is_empty(),
        "among these files, or those that import them, imports form a circle: {circle:?}"
    );
}

#[test]
fn the_steps_of_a_modification_are_taken_in_one_file() {
    let Some(files) = files("src") else { return };
    for call in [".commit(", "factor.sweep("] {
        let mut callers: Vec<_> = files.iter().filter(|(_, file)| file.text.contains(call)).collect();
        // Passes calls on to the storage behind a pointer.
        callers.retain(|(module, _)| module.join("/") != "erased");
        let callers: Vec<_> = callers.iter().map(|(module, _)| module.join("/")).collect();
        assert_eq!(callers, ["guarded"], "{call}");
    }
}
