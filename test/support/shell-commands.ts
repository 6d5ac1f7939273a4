import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

/** The reason why commands with curl cannot run here, or false, for a test's option `skip`. */
export const curlMissing: string | false = canRun() ? false : 'there is no curl, or no sh'

function canRun(): boolean {
  try {
    execFileSync('sh', ['-c', 'curl --version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The output of the commands of a code block, and the status of every response to curl, in order. */
export interface ShellOutcome {
  /** Output by command. */
  readonly outputs: readonly string[]
  readonly statuses: readonly string[]
}

/** Returns the commands of a code block: comments are left out, lines that end with a backslash continue in the next. */
export function commandsOf(block: string): string[] {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Runs commands one after the other in one shell, curl without its configuration and proxies. */
export async function runShell(commands: readonly string[]): Promise<ShellOutcome> {
  const script = [
    'set -e',
    `curl() { command curl -q -sS -w '%{stderr}%{http_code}\\n' "$@"; }`,
    ...commands.flatMap((command) => [command, String.raw`printf '\0'`]),
  ].join('\n')
  const { PATH = '' } = process.env
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], {
    env: { PATH },
    timeout: 60_000,
  })
  return { outputs: stdout.split('\0').slice(0, -1), statuses: stderr.split('\n').slice(0, -1) }
}

/**
 * Returns JSON without the parts that differ from run to run: times, hashes, sequence numbers, durations, ports. Throws for invalid JSON.
 */
export function comparable(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    if ((key === 'seq' || key === 'duration_ms') && Number.isInteger(value)) return 0
    if (typeof value !== 'string') return value
    if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return 'a time'
    return value.replace(/^sha256:(?:…|[0-9a-f]{64})$/, 'a hash').replace(/127\.0\.0\.1:\d+/, 'the API')
  })
}
