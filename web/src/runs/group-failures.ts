import type { RunFailuresAnswer } from '../../../src/wire/runs/runs.ts'

export type RunFailure = RunFailuresAnswer['failures'][number]

export interface FailureGroup {
  /** The common part of the errors; the whole error of a single one. */
  readonly text: string
  readonly errorType: string
  /** The response body of the first failure, if any. */
  readonly body: string | undefined
  readonly failures: readonly RunFailure[]
}

/** Groups failures that happened in the same way, of requests to the same host, in the order of first occurrence. */
export function groupFailures(failures: readonly RunFailure[]): readonly FailureGroup[] {
  const groups = Map.groupBy(failures, (failure) => `${failure.error_type} ${commonText(failure)}`)
  return [...groups.values()].map((alike) => {
    const [first] = alike
    const isSame = alike.every(({ error }) => error === first?.error)
    return {
      text: first === undefined ? '' : isSame ? first.error : commonText(first),
      errorType: first?.error_type ?? '',
      body: first?.response_body,
      failures: alike,
    }
  })
}

/** The beginning of a request up to the host of its URL, such as `GET http://127.0.0.1:4010`. */
const HOST = /^(?:[A-Z]+ )?[a-z]+:\/\/[^/?#\s]*/

/** Returns an error without what is specific to a record: its request, but for the host of a URL. */
function commonText({ error, detail }: RunFailure): string {
  if (detail === null) return error
  const [host] = HOST.exec(error) ?? []
  return host === undefined ? detail : `${host}/… -> ${detail}`
}
