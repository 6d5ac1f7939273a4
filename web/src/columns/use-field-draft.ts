import { useState } from 'react'
import type { SheetField } from '../api/contract.ts'
import { draftOf, type FieldDraft } from './field-draft.ts'
import { isSameDraft, mergeDraft, withSettingsOf, type SettingConflict } from './merge-draft.ts'

/** The settings of a field that is edited while others may edit it too. */
export interface FieldDraftControl {
  /** The settings from which it began, with what others have changed since: only differences from these are written. */
  readonly before: FieldDraft
  readonly draft: FieldDraft
  readonly isChanged: boolean
  /** The settings that others have changed to other values than this draft; null for none. */
  readonly conflict: { readonly keys: readonly SettingConflict[]; readonly theirs: FieldDraft } | null
  change(wanted: Partial<FieldDraft>): void
  /** Resolves the conflict with these values or with those of others. */
  resolve(keep: 'mine' | 'theirs'): void
}

/** Begins a draft of a field, and merges changes of others into it where both do not differ. */
export function useFieldDraft(field: SheetField): FieldDraftControl {
  const [{ before, draft }, setState] = useState(() => ({ before: draftOf(field), draft: draftOf(field) }))
  const theirs = draftOf(field)
  const isPresent = isSameDraft(theirs, before)
  const merged = isPresent ? null : mergeDraft(before, draft, theirs)
  if (merged !== null && merged.conflicts.length === 0) setState({ before: theirs, draft: merged.draft })
  return {
    before,
    draft,
    isChanged: !isSameDraft(draft, before),
    conflict: merged === null || merged.conflicts.length === 0 ? null : { keys: merged.conflicts, theirs },
    change: (wanted) => setState({ before, draft: { ...draft, ...wanted } }),
    resolve: (keep) => {
      if (merged === null) return
      const resolved = keep === 'mine' ? merged.draft : withSettingsOf(merged.draft, theirs, merged.conflicts)
      setState({ before: theirs, draft: resolved })
    },
  }
}
