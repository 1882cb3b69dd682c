"""Hooks of MkDocs: which files are in the site, under the paths that they have in the repository, so that their links hold in both."""

import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

LINK = re.compile(r"\]\(([^()#\s]+)")
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".rs": "rust", ".sh": "sh", ".toml": "toml"}


class Source(File):
    """A linked file that is no Markdown: shown on a page of its own."""

    def is_documentation_page(self):
        return True


def on_files(files, config):
    """Leaves the files of the theme, and puts in the README, docs/, and what these link to within the repository."""
    root = Path(config.config_file_path).resolve().parent
    docs = [file for file in files if file.src_dir == config.docs_dir]
    for file in docs:
        files.remove(file)
    paths = [root / "README.md", *(Path(file.abs_src_path).resolve() for file in docs)]

    def add(kind, path, inclusion):
        uri = path.relative_to(root).as_posix()
        files.append(kind(uri, str(root), config.site_dir, config.use_directory_urls, inclusion=inclusion))

    # Pages that are found on the way are appended.
    for path in paths:
        add(File, path, InclusionLevel.INCLUDED)
        if path.suffix != ".md":
            continue
        for link in LINK.findall(path.read_text(encoding="utf-8")):
            target = (path.parent / link).resolve()
            if not target.is_file() or not target.is_relative_to(root) or target in paths:
                continue
            if target.suffix == ".md":
                paths.append(target)
            elif files.get_file_from_path(target.relative_to(root).as_posix()) is None:
                add(Source, target, InclusionLevel.NOT_IN_NAV)
    return files


def on_page_read_source(page, config):
    if not isinstance(page.file, Source):
        return None
    path = Path(page.file.src_uri)
    text = Path(page.file.abs_src_path).read_text(encoding="utf-8")
    # A fence that no source has in it.
    return f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n~~~~~~ {LANGUAGES.get(path.suffix, 'text')}\n{text}\n~~~~~~\n"


def on_page_markdown(markdown, **_):
    # Behind the language of a fence there may be words for tests: ```rust,no_run or ```python gpu.
    markdown = re.sub(r"^(```\w+)[ ,].+$", r"\1", markdown, flags=re.MULTILINE)
    # MkDocs resolves and checks the links of Markdown alone. Plots have the width of the page, so that a phone shows them.
    return re.sub(r'<img src="([^"]+)"[^>]*>', r"![\1](\1)", markdown)
