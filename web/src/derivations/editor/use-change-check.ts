import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { DefinitionChangeAnswer } from '../../../../src/wire/definition/change.ts'
import { ApiError } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import { useSettled } from '../../ui/use-settled.ts'
import type { FileText } from './drafts.ts'

const SETTLE_MS = 400

/** A text for a file, to be checked. */
export interface Change {
  readonly file: string
  readonly text: string
  /** The file that it would replace; null for a new one. */
  readonly base: FileText | null
}

/** The result of a dry run of a change. */
export interface ChangeCheck {
  /** The effect; null while the text is not valid, and until the first check ends. */
  readonly effect: DefinitionChangeAnswer | null
  /** The error with which it was refused; null if it was not. */
  readonly error: Error | null
  /** Whether effect and error are those of the present text. */
  readonly isCurrent: boolean
}

/** Checks a change with a dry run, when its text has not changed for a moment. */
export function useChangeCheck(change: Change, actor: string, isEnabled: boolean): ChangeCheck {
  const { file, base } = change
  const text = useSettled(change.text, SETTLE_MS)
  const { data, error, isPending, isPlaceholderData } = useQuery({
    // Another definition or other records may have another effect.
    queryKey: ['contract', 'check', file, text, base?.version ?? null, actor],
    queryFn: ({ signal }) =>
      server.definition.write(file, text, {
        dryRun: true,
        ifVersion: base?.version,
        actor,
        signal,
      }),
    enabled: isEnabled && text === change.text,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
  })
  // While the same text is checked again, as after a lost connection, its last effect stays: a save names the version that it is for.
  const isCurrent = isEnabled && text === change.text && !isPending && !isPlaceholderData
  return { effect: error === null ? (data ?? null) : null, error, isCurrent }
}

/** The error of a refused text: at a line of its file, or without one. */
export function faultOf(
  error: Error,
  file: string,
): { readonly line: number | null; readonly message: string } {
  const place = error instanceof ApiError ? error.place : null
  if (place === null || place.file !== `derivations/${file}` || place.line === null)
    return { line: null, message: error.message }
  return { line: place.line, message: error.message }
}
