import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import type { Readable } from 'node:stream'
import type {
  ScriptFile,
  ScriptHost,
  ScriptProcess,
  ScriptStart,
} from '../../derivation/kinds/script/script-host.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import { confined, findConfinement, type Confinement } from './confinement.ts'
import { interpreterOf, isInstalled, SYSTEM_PATH } from './interpreters.ts'
import { LIMIT_PROGRAMS, limitsCommand } from './limits.ts'
import { NODE, SCRIPTS, SHEET, sheetView, systemView } from './sandbox-view.ts'

/** The permission of a sheet's scripts: they do not run, run confined, or run with all rights of this process. */
export type ScriptPermission = 'off' | 'confined' | 'unconfined'

/** The end of standard error that is kept, in bytes. */
const STDERR_BYTES = 16 * 1024

/** The most that a process may write to standard error, in bytes. */
const MAX_STDERR_BYTES = 10 * 1024 * 1024

const TOO_MUCH_STDERR = `standard error is larger than ${MAX_STDERR_BYTES / 1024 / 1024} MiB`

/** Runs the scripts of a sheet as processes of this machine. Close it to end them all. */
export interface ScriptProcesses extends ScriptHost {
  close(): Promise<void>
}

/**
 * Returns the host of the scripts of a sheet in a directory, or of one without, for which only the script itself is there. Tries
 * once what confinement this machine offers, if `permission` asks for it.
 */
export async function scriptProcesses(
  permission: ScriptPermission,
  directory: string | null,
): Promise<ScriptProcesses> {
  if (permission === 'off') return NO_SCRIPTS
  if (permission === 'unconfined') return new LocalScripts('unconfined', directory)
  const confinement = await findConfinement()
  if (confinement.ok) return new LocalScripts(confinement.value, directory)
  return new RefusedScripts(
    `${confinement.error}; --allow-scripts=unconfined runs them with all that this user may do`,
  )
}

const OFF = 'scripts are off, since a sheet may come from anybody; --allow-scripts runs them confined'

class RefusedScripts implements ScriptProcesses {
  readonly confinement = 'refused'
  readonly concurrency = 1
  readonly refusal: string

  constructor(refusal: string) {
    this.refusal = refusal
  }

  async start(): Promise<Result<ScriptProcess, string>> {
    return err(this.refusal)
  }

  async close(): Promise<void> {}
}

/** The host of a process that runs no scripts. */
export const NO_SCRIPTS: ScriptProcesses = new RefusedScripts(OFF)

/** Runs scripts, confined as a trial has found, or unconfined. */
export class LocalScripts implements ScriptProcesses {
  readonly confinement: Confinement | 'unconfined'
  readonly concurrency = availableParallelism()
  readonly refusal = null
  readonly #directory: string | null
  readonly #running = new Set<ScriptProcess>()
  /** Ends processes with this one; those of a sandbox end with it by themselves, also after a kill. */
  readonly #killAll = (): void => {
    for (const { kill } of this.#running) kill()
  }
  /** The folder of copies of scripts, made with the first. */
  #folder: string | null = null

  constructor(confinement: Confinement | 'unconfined', directory: string | null) {
    this.confinement = confinement
    this.#directory = directory
  }

  async start({
    script,
    args,
    env,
    cpuSeconds,
    onOutput,
    onDrain = () => undefined,
  }: ScriptStart): Promise<Result<ScriptProcess, string>> {
    try {
      const command = this.#command(script, args, cpuSeconds)
      if (!command.ok) return command
      const { argv, cwd, base } = command.value
      return await this.#spawn(argv, { cwd, env: { ...base, ...env }, onOutput, onDrain })
    } catch (error) {
      return err(`the process of ${script.path} cannot be started (${codeOf(error)})`)
    }
  }

  async close(): Promise<void> {
    const running = [...this.#running]
    this.#killAll()
    await Promise.all(running.map(({ ended }) => ended))
    if (this.#folder === null) return
    if (isOwn(this.#folder)) rmSync(this.#folder, { recursive: true, force: true })
    this.#folder = null
    process.off('exit', this.#killAll)
  }

  #command(script: ScriptFile, args: readonly string[], cpuSeconds: number | null): Result<Command, string> {
    const { confinement } = this
    const file = this.#copyOf(script)
    if (confinement === 'unconfined') {
      const path = process.env['PATH'] ?? SYSTEM_PATH
      const interpreter = interpreterOf(script, { path, node: process.execPath })
      if (!interpreter.ok) return interpreter
      const sheet = this.#directory ?? this.#empty()
      const hasLimits = LIMIT_PROGRAMS.every((name) => isInstalled(name, path))
      const limits = hasLimits ? limitsCommand(cpuSeconds, { ownUsers: false }) : []
      const argv = [...limits, ...interpreter.value, file, sheet, ...args]
      const home = process.env['HOME']
      return ok({
        argv,
        cwd: sheet,
        base: { PATH: path, LANG: 'C.UTF-8', ...(home !== undefined && { HOME: home }) },
      })
    }
    const interpreter = interpreterOf(script, { path: SYSTEM_PATH, node: NODE })
    if (!interpreter.ok) return interpreter
    const system = systemView(file, basename(script.path))
    const view = { ...system, binds: [...system.binds, ...sheetView(this.#directory)] }
    const inside = [...interpreter.value, `${SCRIPTS}/${basename(script.path)}`, SHEET, ...args]
    const limited = [...limitsCommand(cpuSeconds, { ownUsers: true }), ...inside]
    const base = { PATH: SYSTEM_PATH, HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' }
    return ok({ argv: confined(confinement, view, limited, this.#empty()), cwd: '/', base })
  }

  async #spawn(
    [program = '', ...args]: readonly string[],
    {
      cwd,
      env,
      onOutput,
      onDrain,
    }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv } & Required<
      Pick<ScriptStart, 'onOutput' | 'onDrain'>
    >,
  ): Promise<Result<ScriptProcess, string>> {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    const failed = new Promise<Result<ScriptProcess, string>>((resolve) => {
      child.once('error', (error) =>
        resolve(err(`${basename(program)} cannot be started (${codeOf(error)})`)),
      )
    })
    // Without a free file descriptor it has none of them.
    const { stdin, stdout, stderr } = child as Partial<typeof child>
    if (stdin === undefined || stdout === undefined || stderr === undefined) return failed
    // It may end before it reads.
    stdin.on('error', () => undefined)
    const errors = new TailOf(stderr, () => running.kill())
    const running: ScriptProcess = {
      ended: new Promise((resolve) => {
        child.on('exit', () => {
          hasExited = true
          // Its children, which may hold the streams.
          killGroup(child.pid)
          if (wasKilled) release()
        })
        child.on('close', (code, signal) => {
          this.#running.delete(running)
          const status =
            code ?? 128 + (signal === null ? constants.signals.SIGKILL : constants.signals[signal])
          const text = errors.text()
          resolve({ status, stderr: text, shown: this.#asInside(text) })
        })
      }),
      get unread() {
        return stdin.writableLength
      },
      write: (text) => void (stdin.writable && stdin.write(text)),
      closeInput: () => void stdin.end(),
      kill: () => {
        wasKilled = true
        // The number of a process that has ended may be that of another one.
        if (hasExited) release()
        else killGroup(child.pid)
      },
    }
    let wasKilled = false
    let hasExited = false
    /** Stops waiting for a process that has left the group and holds the streams. */
    const release = (): void => {
      for (const stream of [stdout, stderr]) stream.destroy()
    }
    stdin.on('drain', onDrain)
    stdout.on('data', (chunk: Buffer) => onOutput(chunk, running))
    const spawned = new Promise<Result<ScriptProcess, string>>((resolve) => {
      child.once('spawn', () => {
        this.#running.add(running)
        resolve(ok(running))
      })
    })
    return Promise.race([spawned, failed])
  }

  /** Replaces paths of the machine in what a sandbox reports, such as a file that went missing while it was built. */
  #asInside(text: string): string {
    if (this.confinement === 'unconfined') return text
    const sheet = this.#directory
    const shown = this.#folder === null ? text : text.replaceAll(`${this.#folder}/`, `${SCRIPTS}/`)
    return sheet === null || !isAbsolute(sheet) ? shown : shown.replaceAll(`${sheet}/`, `${SHEET}/`)
  }

  /** Returns the path of a file with the bytes that were hashed, which anybody may read: the user of a sandbox must. */
  #copyOf({ path, bytes, sha256 }: ScriptFile): string {
    const folder = join(this.#made(), sha256)
    const file = join(folder, basename(path))
    if (existsSync(file)) return file
    mkdirSync(folder, { recursive: true })
    // Under its name it is whole and readable, also after a full disk, and under a strict umask.
    const begun = join(folder, 'begun')
    writeFileSync(begun, bytes)
    chmodSync(begun, 0o644)
    renameSync(begun, file)
    return file
  }

  #empty(): string {
    const folder = join(this.#made(), 'empty')
    mkdirSync(folder, { recursive: true })
    return folder
  }

  #made(): string {
    if (this.#folder === null) process.on('exit', this.#killAll)
    // Systems remove old files from there, and then any user can make a folder of this name.
    if (this.#folder === null || !isOwn(this.#folder)) {
      this.#folder = mkdtempSync(join(tmpdir(), 'colophon-scripts-'))
    }
    return this.#folder
  }
}

interface Command {
  readonly argv: readonly string[]
  readonly cwd: string
  /** The environment beside the variables that the derivation lists. */
  readonly base: NodeJS.ProcessEnv
}

/** Keeps the end of a stream, and calls `onTooMuch` when it exceeds a limit. */
class TailOf {
  #chunks: Buffer[] = []
  #size = 0
  #isTooLong = false

  constructor(stream: Readable, onTooMuch: () => void) {
    let total = 0
    stream.on('data', (chunk: Buffer) => {
      total += chunk.length
      if (total > MAX_STDERR_BYTES) {
        this.#isTooLong = true
        onTooMuch()
      }
      this.#chunks.push(chunk)
      this.#size += chunk.length
      if (this.#size > 8 * STDERR_BYTES) this.#cut()
    })
  }

  text(): string {
    if (this.#isTooLong) return TOO_MUCH_STDERR
    this.#cut()
    return new TextDecoder().decode(this.#chunks[0])
  }

  #cut(): void {
    const kept = Buffer.concat(this.#chunks).subarray(-STDERR_BYTES)
    this.#chunks = [Buffer.from(kept)]
    this.#size = kept.length
  }
}

/** Kills a process and its group; the first process of a sandbox ends all others. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Whether a directory exists and belongs to this user. */
function isOwn(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid)
}

/** Returns what is wrong without the message, which has paths of the machine. Throws an error that is not of the system. */
function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  throw error
}
