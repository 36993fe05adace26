"""deepagents' files over people's memories: what is remembered of the person of the run, as text to read and edit."""

import functools
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Any, Concatenate, ParamSpec, TypeVar

from langchain_core.runnables.config import run_in_executor

try:
    from deepagents.backends.protocol import (
        FILE_NOT_FOUND,
        IS_DIRECTORY,
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileData,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
    from deepagents.backends.utils import (
        InvalidGlobPatternError,
        compile_grep_include_glob,
        create_file_data,
        grep_matches_from_files,
        perform_string_replacement,
        slice_read_response,
    )
except ImportError as error:
    raise ImportError("memories as files need more: pip install 'phone-memory[deepagents]'") from error

from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.store.memory_edits import REFUSED, MemoryEdits, Run
from langmem_plugin.store.memory_lines import FACTS, Changes, File, Line, changes_of, facts_file, files_of

log = event_log(__name__)

_SHOWN = 3
_UNAVAILABLE = "The memory cannot be reached right now. Go on without it, and say so."

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _reported(
    result: Callable[..., _Result],
) -> Callable[
    [Callable[Concatenate["MemoryFiles", _Given], _Result]], Callable[Concatenate["MemoryFiles", _Given], _Result]
]:
    """Turn an error into the `error` of the result. A run without a person is still raised."""

    def deciding(
        work: Callable[Concatenate["MemoryFiles", _Given], _Result],
    ) -> Callable[Concatenate["MemoryFiles", _Given], _Result]:
        @functools.wraps(work)
        def decided(self: "MemoryFiles", /, *arguments: _Given.args, **named: _Given.kwargs) -> _Result:
            self.run.owner()
            try:
                return work(self, *arguments, **named)
            except REFUSED as error:
                return result(error=f"This cannot be done: {error}.")
            except (EmbeddingUnavailable, StoreUnavailable):
                log.warning("files.unavailable", exc_info=True, extra={"verb": work.__name__})
                return result(error=_UNAVAILABLE)

        return decided

    return deciding


class MemoryFiles(BackendProtocol):
    """Memories as files of a deep agent: `routes={"/memories/": memory.store.files()}` of a CompositeBackend.

    `AGENTS.md` holds the newest hundred memories and the standing instructions, `instructions.md` those alone,
    `facts/<type>.md` the memories of one type; nothing else can be written. Whose they are the run says, never a path.
    A new line is remembered as `remember_fact` does, or taken as an instruction; a changed one takes the place of what
    it was; one that is edited out is forgotten. A whole file that is written or uploaded may only add and correct: what
    its writer did not know of must not be forgotten by it. `delete` forgets every line of a file.
    What cannot be done is told in the result's `error`; nothing is changed then, unless that says so.
    """

    def __init__(
        self,
        service: MemoryService,
        run: Run,
        *,
        executor: Executor,
    ) -> None:
        self.run = run
        self._edits = MemoryEdits(service, run)
        self._executor = executor

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run the function in a thread, with what the caller's context says of the run."""
        return await run_in_executor(self._executor, functools.partial(copy_context().run, function, *arguments))

    # Reading

    @_reported(LsResult)
    def ls(self, path: str) -> LsResult:
        files, folder = self._files(), _absolute(path).rstrip("/") + "/"
        below = {each: file for each, file in files.items() if each.startswith(folder)}
        direct = [_info(each, file) for each, file in below.items() if "/" not in each[len(folder) :]]
        folders = sorted({folder + each[len(folder) :].split("/")[0] + "/" for each in below if each.count("/") > 1})
        within = [FileInfo(path=each, is_dir=True, size=0, modified_at="") for each in folders if each != folder]
        return LsResult(entries=[*direct, *within])

    @_reported(ReadResult)
    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        file = self._files().get(_absolute(file_path))
        if file is None:
            return ReadResult(error=_not_found(file_path))
        return slice_read_response(_data(file), offset, limit)

    @_reported(GrepResult)
    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        files = {each: _data(file) for each, file in self._files().items()}
        return grep_matches_from_files(files, pattern, path, glob, max_count=max_count)

    @_reported(GlobResult)
    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        try:
            matches = compile_grep_include_glob(pattern)
        except InvalidGlobPatternError as error:
            return GlobResult(error=str(error))
        folder = _absolute(path or "/").rstrip("/") + "/"
        files = {each: file for each, file in self._files().items() if each.startswith(folder)}
        return GlobResult(matches=[_info(each, file) for each, file in files.items() if matches(each[len(folder) :])])

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._downloaded(path) for path in paths]

    def _downloaded(self, path: str) -> FileDownloadResponse:
        @_reported(functools.partial(FileDownloadResponse, path))
        def download(self: "MemoryFiles") -> FileDownloadResponse:
            files, wanted = self._files(), _absolute(path)
            if wanted in files:
                return FileDownloadResponse(path, content=files[wanted].text.encode())
            is_folder = any(each.startswith(wanted.rstrip("/") + "/") for each in files)
            return FileDownloadResponse(path, error=IS_DIRECTORY if is_folder else FILE_NOT_FOUND)

        return download(self)

    # Writing

    @_reported(WriteResult)
    def write(self, file_path: str, content: str) -> WriteResult:
        self._replace(file_path, content)
        return WriteResult(path=file_path)

    @_reported(EditResult)
    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
    ) -> EditResult:
        lines = self._edits.lines()
        file = files_of(*lines).get(_absolute(file_path))
        if file is None:
            return EditResult(error=_not_found(file_path))
        edited = perform_string_replacement(file.text, old_string, new_string, replace_all)
        if isinstance(edited, str):
            return EditResult(error=f"{edited} Somebody may have changed it since: read the file again.")
        text, occurrences = edited
        self._edits.apply(_changes(file, text, lines))
        return EditResult(path=file_path, occurrences=occurrences)

    @_reported(DeleteResult)
    def delete(self, file_path: str) -> DeleteResult:
        memories, instructions = self._edits.lines()
        path = _absolute(file_path)
        files = files_of(memories, instructions)
        folder = path.rstrip("/") + "/"
        found = [file for each, file in files.items() if each == path or each.startswith(folder)]
        if not found:
            return DeleteResult(error=_not_found(file_path))
        self._edits.apply(Changes(removed=list({line.id: line for file in found for line in file.lines}.values())))
        return DeleteResult(path=file_path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [self._uploaded(path, content) for path, content in files]

    def _uploaded(self, path: str, content: bytes) -> FileUploadResponse:
        @_reported(functools.partial(FileUploadResponse, path))
        def upload(self: "MemoryFiles") -> FileUploadResponse:
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                raise InvalidInput("the files of the memory hold UTF-8 text") from error
            self._replace(path, text)
            return FileUploadResponse(path)

        return upload(self)

    # Asynchronous: in threads of ours, which waiting turns cannot use up.

    async def als(self, path: str) -> LsResult:
        result: LsResult = await self._in_thread(self.ls, path)
        return result

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        result: ReadResult = await self._in_thread(self.read, file_path, offset, limit)
        return result

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        grep = functools.partial(self.grep, pattern, path, glob, max_count=max_count)
        result: GrepResult = await self._in_thread(grep)
        return result

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        result: GlobResult = await self._in_thread(self.glob, pattern, path)
        return result

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        result: WriteResult = await self._in_thread(self.write, file_path, content)
        return result

    async def aedit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
    ) -> EditResult:
        result: EditResult = await self._in_thread(self.edit, file_path, old_string, new_string, replace_all)
        return result

    async def adelete(self, file_path: str) -> DeleteResult:
        result: DeleteResult = await self._in_thread(self.delete, file_path)
        return result

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        result: list[FileUploadResponse] = await self._in_thread(self.upload_files, files)
        return result

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        result: list[FileDownloadResponse] = await self._in_thread(self.download_files, paths)
        return result

    # The memory behind them

    def _files(self) -> dict[str, File]:
        return files_of(*self._edits.lines())

    def _replace(self, file_path: str, content: str) -> None:
        path, lines = _absolute(file_path), self._edits.lines()
        files = files_of(*lines)
        file = facts_file(path, lines[0]) if path in FACTS else files.get(path)
        if file is None:
            known = ", ".join({**files, **dict.fromkeys(FACTS)})
            raise InvalidInput(f"{file_path} cannot be written: of the files of the memory only {known} can")
        changes = _changes(file, content, lines)
        if changes.removed:
            missing = ", ".join(repr(line.text) for line in changes.removed[:_SHOWN])
            raise InvalidInput(
                f"the new text lacks {len(changes.removed)} lines that are there ({missing}): keep them and their ids,"
                " or take out by edit_file what is to be forgotten"
            )
        self._edits.apply(changes)


def _changes(file: File, text: str, lines: tuple[list[Line], list[Line]]) -> Changes:
    return changes_of(file, text, {line.id: line for each in lines for line in each})


def _absolute(path: str) -> str:
    return "/" + path.strip().lstrip("/")


def _not_found(path: str) -> str:
    return f"File '{path}' not found"


def _data(file: File) -> FileData:
    return create_file_data(file.text) | FileData(content=file.text, encoding="utf-8", modified_at=file.modified_at)


def _info(path: str, file: File) -> FileInfo:
    return FileInfo(path=path, is_dir=False, size=len(file.text.encode()), modified_at=file.modified_at)
