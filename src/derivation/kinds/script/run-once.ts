import type { Failure } from '../../../errors/failure.ts'
import { err, type Result } from '../../../errors/result.ts'
import type { Computed } from '../../definition/derivation-kind.ts'
import { Pieces } from './pieces.ts'
import type { ScriptEnd, ScriptFile, ScriptHost } from './script-host.ts'
import { endOf, valuesOfOutput, type AnswerContext } from './script-values.ts'

/** The most bytes of standard output for a record. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024

/** The longest argument of a process on Linux, in bytes. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1

/** A record to compute in a process of its own. */
export interface OneRecord {
  readonly host: ScriptHost
  readonly script: ScriptFile
  /** JSON, the second argument of the process. */
  readonly inputs: string
  readonly env: { readonly [name: string]: string }
  /** Seconds. */
  readonly timeout: number
  /** Kills the process; the result is then rejected with its reason. */
  readonly signal: AbortSignal
  readonly answer: AnswerContext
}

/** Computes a record in a process of its own. Nothing of an answer is used unless the process ends with exit status 0 in time. */
export async function runOnce({
  host,
  script,
  inputs,
  env,
  timeout,
  signal,
  answer,
}: OneRecord): Promise<Result<Computed['values'], Failure>> {
  const { request } = answer
  if (Buffer.byteLength(inputs) > MAX_ARGUMENT_BYTES) {
    const detail =
      'the inputs are larger than an argument of a process can be, 128 KiB; use fewer or shorter inputs'
    return err({ reason: 'unusable_input', request, detail })
  }
  const received = new Pieces()
  let stopped: Failure | null = null
  const started = await host.start({
    script,
    args: [inputs],
    env,
    cpuSeconds: Math.ceil(timeout) + 1,
    onOutput(chunk, { kill }) {
      if (stopped !== null) return
      received.push(chunk)
      if (received.size <= MAX_OUTPUT_BYTES) return
      received.take()
      stopped ??= { reason: 'computation', request, detail: TOO_MUCH_OUTPUT }
      kill()
    },
  })
  if (!started.ok) return err({ reason: 'refused', request, detail: started.error })
  const { ended, kill, closeInput } = started.value
  closeInput()
  const timer = setTimeout(() => {
    stopped ??= { reason: 'timeout', request, seconds: timeout }
    kill()
  }, timeout * 1000)
  signal.addEventListener('abort', kill)
  if (signal.aborted) kill()
  const end = await ended
  clearTimeout(timer)
  signal.removeEventListener('abort', kill)
  signal.throwIfAborted()
  if (stopped !== null) return err(stopped)
  if (end.status !== 0) return err({ reason: 'computation', request, detail: exitText(end, answer) })
  return valuesOfOutput(received.take(), answer)
}

const TOO_MUCH_OUTPUT = `standard output is larger than ${MAX_OUTPUT_BYTES / 1024 / 1024} MiB`

/** Describes an exit status other than 0, with the end of standard error. */
export function exitText(
  { status, stderr, shown }: ScriptEnd,
  { guard }: Pick<AnswerContext, 'guard'>,
): string {
  const text = endOf(stderr, guard, shown)
  const killed = status > 128 && status < 160 ? `, after signal ${status - 128}` : ''
  return `exit status ${status}${killed}${text === '' ? '' : `: ${text}`}`
}
