import type { RunFailuresAnswer } from '../../../wire/runs/runs.ts'
import { inOneLine } from '../../terminal/one-line.ts'

/** The characters of a response that a table shows; `--format json` has all. */
const SHOWN = 300

/** Returns a failure and its response in one line: `GET https://… -> 404: {"error": "unknown company"}`. */
export function failureText(
  failure: Pick<RunFailuresAnswer['failures'][number], 'error' | 'response_body'>,
): string {
  const { error, response_body: body } = failure
  if (body === undefined) return error
  const shown = inOneLine(body)
  return `${error}: ${shown.length > SHOWN ? `${shown.slice(0, SHOWN)}…` : shown}`
}
