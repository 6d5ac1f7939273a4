import { Stored } from '../../state/stored.ts'

/** A text of a file on the server. */
export interface FileText {
  readonly text: string
  readonly version: string
}

/** An edited text that is not saved, and the text of the file that it began with; null for a file that did not exist. */
export interface Draft {
  readonly text: string
  readonly base: FileText | null
}

type Drafts = Readonly<Record<string, Draft>>

/** The drafts of this browser, which outlast a reload. */
export const drafts = new Stored<Drafts>('drafts', (value) =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([, each]) => isDraft(each)))
    : {},
)

/** The key of the draft of a file; browsers may know several sheets at one address. */
export function draftKey(sheet: string, file: string): string {
  return `${sheet}/${file}`
}

/** Returns the names of the new files of a sheet that are not saved. */
export function newFilesOf(all: Drafts, sheet: string): readonly string[] {
  const start = draftKey(sheet, '')
  return Object.entries(all).flatMap(([key, { base }]) =>
    base === null && key.startsWith(start) ? [key.slice(start.length)] : [],
  )
}

/** Stores a draft; null removes it. */
export function storeDraft(key: string, draft: Draft | null): void {
  const { [key]: _, ...others } = drafts.value
  drafts.set(draft === null ? others : { ...others, [key]: draft })
}

function isDraft(value: unknown): value is Draft {
  const { text, base } = (value ?? {}) as Partial<Draft>
  return (
    typeof text === 'string' &&
    (base === null || (typeof base?.text === 'string' && typeof base.version === 'string'))
  )
}
