import type { RunFailuresAnswer } from '../../../src/wire/runs/runs.ts'

export type RunFailure = RunFailuresAnswer['failures'][number]

export interface FailureGroup {
  /** What they have in common; the whole error where there is one only. */
  readonly text: string
  readonly errorType: string
  /** What the response of the first said, if anything. */
  readonly body: string | undefined
  readonly failures: readonly RunFailure[]
}

/** Failures of the same kind together, in the order in which each kind came first. */
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

/** The error without what is of one record only: of a URL, all but the host. */
export function errorPattern(error: string): string {
  const { method, url, reason } = CALL.exec(error)?.groups ?? {}
  if (method === undefined || url === undefined || reason === undefined) return error
  return `${method} ${originOf(url)}/… -> ${reason}`
}

function originOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? url
}
