import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The files that a confined process can read, all read-only. Beside them it has only an empty `/tmp`, `/proc` and `/dev`. */
export interface SandboxView {
  /** Files and directories: the path on the machine, and the one in the sandbox. */
  readonly binds: readonly (readonly [from: string, to: string])[]
  /** Symbolic links: their target, and their path in the sandbox. */
  readonly links: readonly (readonly [target: string, path: string])[]
}

/** The path of the sheet in a sandbox. */
export const SHEET = '/sheet'

/** The path of the script's directory, and of this process's Node.js, in a sandbox. */
export const SCRIPTS = '/run/colophon'
export const NODE = '/run/colophon/node'

/** The directories of programs and libraries. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store']

/** The files of `/etc` that the loader and programs need; they have no names of users and no settings of the machine. */
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/alternatives']

/** The store files, which scripts do not see. Files hidden at the top, such as `.env`, are not shown either. */
const STORE_FILE = /^(?:sheet\.db|provenance\.jsonl)/

/** Returns the part of the view that every script has: system, Node.js, and the script itself. */
export function systemView(scriptFile: string, scriptName: string): SandboxView {
  const { links, binds } = (system ??= lookAtSystem())
  return {
    links,
    binds: [...binds, [process.execPath, NODE], [scriptFile, `${SCRIPTS}/${scriptName}`]],
  }
}

/** The directories and files of the system: what they are does not change while it runs. */
let system: SandboxView | null = null

function lookAtSystem(): SandboxView {
  const shown = [...SYSTEM.filter((path) => !isLink(path)), ...SYSTEM_FILES].filter((path) =>
    existsSync(path),
  )
  return {
    links: SYSTEM.filter((path) => isLink(path)).map((path) => [readlinkSync(path), path] as const),
    binds: shown.map((path) => [path, path] as const),
  }
}

/** Returns the files and directories of a sheet that scripts see; a link is not shown, wherever it leads. */
export function sheetView(directory: string | null): SandboxView['binds'] {
  if (directory === null) return []
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && !entry.name.startsWith('.'))
    .filter(({ name }) => !STORE_FILE.test(name))
    .map(({ name }) => [join(directory, name), `${SHEET}/${name}`])
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}
