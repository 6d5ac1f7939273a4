import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const CACHE = join(ROOT, '.cache', 'linearizability')
const PROGRAM = join(CACHE, 'checker')

/** The exit statuses of the checker. */
const ILLEGAL = 1
const UNDECIDED = 3

/** The result of a check. */
export interface Checked {
  readonly verdict: 'linearizable' | 'not linearizable' | 'undecided'
  /** The output of the checker. */
  readonly explanation: string
}

/** Whether Go is installed, which builds the checker. */
export function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Builds the checker. Throws with what to do when there is no Go. */
export function buildChecker(): void {
  if (!hasGo()) {
    throw new Error(
      'the checker of histories is a Go program, and there is no "go" on the PATH; install Go 1.24 or later',
    )
  }
  mkdirSync(CACHE, { recursive: true })
  execFileSync('go', ['build', '-o', PROGRAM, '.'], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Checks the lines of a history. With a name, one that is not linearizable is written into a page of that name. */
export async function checkHistory(lines: string, name?: string): Promise<Checked> {
  const page = name === undefined ? [] : ['-html', join(CACHE, `${name}.html`)]
  const { promise, resolve, reject } = Promise.withResolvers<Checked>()
  const child = execFile(PROGRAM, page, (error, stdout, stderr) => {
    const explanation = stdout.trim()
    if (error === null) resolve({ verdict: 'linearizable', explanation })
    else if (error.code === ILLEGAL) resolve({ verdict: 'not linearizable', explanation })
    else if (error.code === UNDECIDED) resolve({ verdict: 'undecided', explanation })
    else reject(new Error(`the checker failed: ${stderr === '' ? error.message : stderr}`))
  })
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(lines)
  return promise
}

/** Keeps the lines of a history beside its page; returns the path of the file from the root of the repository. */
export function keepHistory(lines: string, name: string): string {
  const file = join(CACHE, `${name}.jsonl`)
  writeFileSync(file, lines)
  return relative(ROOT, file)
}
