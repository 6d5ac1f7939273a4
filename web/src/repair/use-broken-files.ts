import { queryOptions, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { server } from '../api/server.ts'
import type { FileText } from '../derivations/editor/drafts.ts'
import { CONTRACT } from './may-repair.ts'

const REREAD_MS = 2000

/** A definition file that may not be valid, and its text in the editor. */
export interface BrokenFile {
  /** `contract.yaml`, or `derivations/<name>.yaml`. */
  readonly path: string
  /** The file on the server. */
  readonly current: FileText
  /** The file with which the edited text began. */
  readonly base: FileText
  readonly text: string
  readonly isDirty: boolean
  /** Whether the file was changed since the text was begun. */
  readonly isOutdated: boolean
}

/** The texts of files that are repaired. */
export interface BrokenFiles {
  /** The files that are read, the contract first. */
  readonly files: readonly BrokenFile[]
  /** The error with which one of them could not be read; null for none. */
  readonly error: Error | null
  set(path: string, text: string): void
  /** Goes on with the edited text, as a change of the present file. */
  keepMine(path: string): void
  discard(path: string): void
}

interface Draft {
  readonly text: string
  readonly base: FileText
}

/** Reads the contract and these files, again and again, and keeps their edited texts. */
export function useBrokenFiles(paths: readonly string[]): BrokenFiles {
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({})
  const all = [CONTRACT, ...paths.filter((path) => path !== CONTRACT)]
  const results = useQueries({ queries: all.map(textQuery) })
  const files = all.flatMap((path, index): BrokenFile[] => {
    const current = results[index]?.data
    if (current === undefined) return []
    const { text, base } = drafts[path] ?? { text: current.text, base: current }
    const isDirty = text !== current.text
    return [{ path, current, base, text, isDirty, isOutdated: isDirty && base.version !== current.version }]
  })
  const found = (path: string): BrokenFile | undefined => files.find((each) => each.path === path)
  const put = (path: string, draft: Draft | null): void => {
    const { [path]: _, ...others } = drafts
    setDrafts(draft === null ? others : { ...others, [path]: draft })
  }
  return {
    files,
    error: results.find(({ error, data }) => error !== null && data === undefined)?.error ?? null,
    set: (path, text) => {
      const file = found(path)
      if (file !== undefined) put(path, { text, base: file.isDirty ? file.base : file.current })
    },
    keepMine: (path) => {
      const file = found(path)
      if (file !== undefined) put(path, { text: file.text, base: file.current })
    },
    discard: (path) => put(path, null),
  }
}

function textQuery(path: string) {
  return queryOptions({
    queryKey: ['contract', 'text', path],
    queryFn: ({ signal }): Promise<FileText> =>
      path === CONTRACT
        ? server.definition.readContractText({ signal })
        : server.definition.read(path.replace('derivations/', ''), { signal }),
    refetchInterval: REREAD_MS,
  })
}
