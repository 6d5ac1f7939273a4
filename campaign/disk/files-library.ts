import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOURCE = join(import.meta.dirname, 'files.c')

/** The reason why the library of `files.c` cannot be used here; false where it can. */
export function whyNoLibrary(): string | false {
  if (process.platform !== 'linux') return 'the calls of files are recorded on Linux only'
  if (spawnSync('cc', ['--version']).status !== 0)
    return 'there is no C compiler (cc) to build campaign/disk/files.c with'
  return false
}

/** Builds the library of `files.c` with the C compiler of this machine, once for each version of it; returns its path. */
export function filesLibrary(): string {
  const reason = whyNoLibrary()
  if (reason !== false)
    throw new Error(`${reason}; install one, such as gcc, with the headers of the C library`)
  const version = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16)
  const library = join(tmpdir(), `colophon-files-${version}.so`)
  if (existsSync(library)) return library
  const directory = mkdtempSync(join(tmpdir(), 'colophon-files-'))
  try {
    const built = join(directory, 'files.so')
    const { status, stderr } = spawnSync(
      'cc',
      ['-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', built, SOURCE, '-ldl'],
      { encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(`cc could not build ${SOURCE}:\n${stderr}`)
    renameSync(built, library)
    return library
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Returns the environment with which the files below a directory are recorded in a trace, or fail by a file of faults. */
export function watchedFiles(
  directory: string,
  { trace, faults }: { readonly trace?: string; readonly faults?: string },
): NodeJS.ProcessEnv {
  return {
    LD_PRELOAD: filesLibrary(),
    COLOPHON_FILES_DIR: directory,
    ...(trace !== undefined && { COLOPHON_FILES_TRACE: trace }),
    ...(faults !== undefined && { COLOPHON_FILES_FAULTS: faults }),
  }
}
