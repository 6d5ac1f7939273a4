import { accessSync, constants } from 'node:fs'
import { delimiter, extname, join } from 'node:path'
import type { ScriptFile } from '../../derivation/kinds/script/script-host.ts'
import { err, ok, type Result } from '../../errors/result.ts'

/** The folders of programs in a sandbox. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The places of interpreters: the folders of programs, and this process's Node.js. */
export interface Programs {
  readonly path: string
  readonly node: string
}

/** The package to install for a missing interpreter. */
const PACKAGES: Readonly<Record<string, string>> = { python3: 'Python 3', bash: 'bash', sh: 'a POSIX shell' }

/**
 * Returns the command that runs a script, by its ending, without the script's path. A `.sh` runs in sh, unless its first line names bash.
 * Returns the reason as text if the interpreter is not installed.
 */
export function interpreterOf(
  { path, bytes }: ScriptFile,
  programs: Programs,
): Result<readonly string[], string> {
  switch (extname(path)) {
    case '.py':
      // Unbuffered, so that each line of a batch is received at once; without the settings and packages of the user.
      return found(['python3', '-u', '-B', '-E', '-s'], path, programs)
    case '.sh':
      return found([namesBash(bytes) ? 'bash' : 'sh'], path, programs)
    default:
      return ok([programs.node])
  }
}

function found(
  [name = '', ...args]: readonly string[],
  path: string,
  programs: Programs,
): Result<readonly string[], string> {
  const program = programs.path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => isProgram(file))
  if (program !== undefined) return ok([program, ...args])
  return err(
    `${name}, which ${path} needs, is not in ${programs.path}; install ${PACKAGES[name]} and run again`,
  )
}

function namesBash(bytes: Uint8Array): boolean {
  const [line = ''] = Buffer.from(bytes.subarray(0, 200)).toString('latin1').split('\n')
  return /^#!.*\bbash\b/.test(line)
}

/** Whether a program is in one of the folders of a path. */
export function isInstalled(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => isProgram(join(folder, name)))
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
