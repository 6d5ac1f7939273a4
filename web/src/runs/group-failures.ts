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

/** Groups failures by error pattern, in the order of first occurrence. */
export function groupFailures(failures: readonly RunFailure[]): readonly FailureGroup[] {
  const groups = Map.groupBy(failures, ({ error, error_type }) => `${error_type} ${errorPattern(error)}`)
  return [...groups.values()].map((alike) => {
    const [first] = alike
    const isSame = alike.every(({ error }) => error === first?.error)
    return {
      text: first === undefined ? '' : isSame ? first.error : errorPattern(first.error),
      errorType: first?.error_type ?? '',
      body: first?.response_body,
      failures: alike,
    }
  })
}

const CALL = /^(?<method>[A-Z]+) (?<url>\S+) -> (?<reason>.*)$/s

/** Returns an error without the parts that are specific to a record: of URLs, all but the host. */
export function errorPattern(error: string): string {
  const { method, url, reason } = CALL.exec(error)?.groups ?? {}
  if (method === undefined || url === undefined || reason === undefined) return error
  return `${method} ${originOf(url)}/… -> ${reason}`
}

function originOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? url
}
