import type { FieldDraft } from './field-draft.ts'

/** A setting of a field that two people changed, to different values. */
export type SettingConflict = keyof FieldDraft

/** Both changes of the settings of a field. */
export interface MergedDraft {
  /** The settings with the changes of both; where both changed one, with mine. */
  readonly draft: FieldDraft
  readonly conflicts: readonly SettingConflict[]
}

/** Merges two changes of the settings that a field had before. */
export function mergeDraft(before: FieldDraft, mine: FieldDraft, theirs: FieldDraft): MergedDraft {
  const keys = Object.keys(before) as SettingConflict[]
  const changed = keys.filter((key) => mine[key] !== before[key])
  return {
    draft: { ...theirs, ...pick(mine, changed) },
    conflicts: changed.filter((key) => theirs[key] !== before[key] && theirs[key] !== mine[key]),
  }
}

/** Returns settings with these of another draft. */
export function withSettingsOf(
  draft: FieldDraft,
  other: FieldDraft,
  keys: readonly SettingConflict[],
): FieldDraft {
  return { ...draft, ...pick(other, keys) }
}

/** Whether two drafts have the same settings. */
export function isSameDraft(a: FieldDraft, b: FieldDraft): boolean {
  return (Object.keys(a) as SettingConflict[]).every((key) => a[key] === b[key])
}

function pick(draft: FieldDraft, keys: readonly SettingConflict[]): Partial<FieldDraft> {
  return Object.fromEntries(keys.map((key) => [key, draft[key]]))
}
