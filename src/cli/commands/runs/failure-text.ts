import type { RunFailuresAnswer } from '../../../wire/runs/runs.ts'
import { inOneLine } from '../../terminal/one-line.ts'

/** Characters of a response that a table shows; `--format json` has the rest. */
const SHOWN = 300

/** A failure and what the response said, in one line: `GET https://… -> 404: {"error": "unknown company"}`. */
export function failureText(
  failure: Pick<RunFailuresAnswer['failures'][number], 'error' | 'response_body'>,
): string {
  const { error, response_body: body } = failure
  if (body === undefined) return error
  const said = inOneLine(body)
  return `${error}: ${said.length > SHOWN ? `${said.slice(0, SHOWN)}…` : said}`
}
