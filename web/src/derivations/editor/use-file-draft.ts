import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { derivationFileQuery } from '../../api/queries.ts'
import { drafts, storeDraft, type Draft, type FileText } from './drafts.ts'

/** The text of a file being edited. */
export interface FileDraft {
  /** False until the file is read. */
  readonly isLoaded: boolean
  /** The error with which reading the file failed; null for none. */
  readonly error: Error | null
  /** The text in the editor. */
  readonly text: string
  /** The text that it began with; null for a new file. */
  readonly base: FileText | null
  /** The file on the server; null if there is none. */
  readonly current: FileText | null
  readonly isDirty: boolean
  /** Whether the file was changed, created or removed since the text was begun. */
  readonly isOutdated: boolean
  set(text: string): void
  /** Keeps the text, as a change of the present file. */
  keepMine(): void
  /** Ends the draft: the file has its text. */
  saved(): void
  /** Returns to the text of the file, and returns what brings the edited one back. */
  discard(): () => void
}

/** The draft of a file in this tab, stored so that it outlasts a reload; `initial` is the text of a new file. */
export function useFileDraft(key: string, file: string, initial = ''): FileDraft {
  const query = useQuery(derivationFileQuery(file))
  const [own, setOwn] = useState<Draft | null>(() => drafts.value[key] ?? null)
  const isAbsent = query.error instanceof ApiError && query.error.code === 'unknown_derivation'
  const current = isAbsent || query.data === undefined ? null : query.data
  const isLoaded = isAbsent || query.data !== undefined
  // Saved here or elsewhere: the draft is the file.
  const draft = isLoaded && own !== null && own.text === current?.text ? null : own
  const base = draft === null ? current : draft.base
  const text = draft === null ? (current?.text ?? initial) : draft.text

  const isSaved = own !== null && draft === null
  useEffect(() => {
    if (!isSaved) return
    setOwn(null)
    storeDraft(key, null)
  }, [isSaved, key])

  const keep = (next: Draft | null): void => {
    setOwn(next)
    storeDraft(key, next)
  }
  return {
    isLoaded,
    error: isAbsent ? null : query.error,
    text,
    base,
    current,
    isDirty: isLoaded && (draft !== null || current === null),
    isOutdated: draft !== null && isLoaded && current?.version !== draft.base?.version,
    set: (next) =>
      keep(
        next === (base?.text ?? initial) && base?.version === current?.version ? null : { text: next, base },
      ),
    keepMine: () => keep({ text, base: current }),
    saved: () => keep(null),
    discard: () => {
      keep(null)
      return () => keep(draft)
    },
  }
}
