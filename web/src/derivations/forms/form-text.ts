import { editYaml, readYaml } from '../../../../src/contract/yaml/edit/edit-yaml.ts'
import type { YamlEdit, YamlPath } from '../../../../src/contract/yaml/edit/yaml-edit.ts'
import { messageOf } from '../../api/api-error.ts'

/** A value of YAML, as the forms read it. */
export type FormValue = null | boolean | number | string | readonly FormValue[] | FormMembers

/** The members of a derivation file or of a step. */
export interface FormMembers {
  readonly [key: string]: FormValue
}

/** The members of a derivation file; or why a form cannot show it. */
export type FormReading = { readonly members: FormMembers } | { readonly problem: string }

/** The last edit of a form. */
export interface LastEdit {
  readonly path: string
  /** The text before the first of the edits of this place that followed each other. */
  readonly base: string
  /** The text after it. */
  readonly text: string
}

export type Edited = { readonly last: LastEdit } | { readonly problem: string }

/** The name of the text in messages, before the line: a form does not show which file it edits. */
const FILE = 'The file'

/** Reads the text of a derivation file for a form. */
export function readForm(text: string): FormReading {
  try {
    const value = readYaml(text, FILE)
    if (isMembers(value)) return { members: value }
    return { problem: 'The file is not a map with the keys targets and kind.' }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/**
 * Changes a text by edits of one place, without touching the rest: comments, order and members that no form knows stay byte for byte.
 * Edits of the same place that follow each other, such as keystrokes, are each made to the text from before the first of them. So what a place
 * holds for a moment only, such as an empty text, has no effect on how the final value is written.
 */
export function editForm(text: string, edits: readonly YamlEdit[], last: LastEdit | null): Edited {
  const path = edits.length === 1 ? placeOf(edits[0]) : ''
  const continues = last !== null && path !== '' && last.path === path && last.text === text
  const base = continues ? last.base : text
  try {
    return { last: { path, base, text: editYaml(base, FILE, edits) } }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** Returns the members at a place of a file: the root, or a step; none where there are none. */
export function membersAt(members: FormMembers, at: YamlPath): FormMembers {
  let found: FormValue | undefined = members
  for (const step of at) {
    if (Array.isArray(found)) found = (found as readonly FormValue[])[Number(step)]
    else found = isMembers(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return isMembers(found) ? found : {}
}

/** Returns a member; null for one that is absent. */
export function memberOf(members: FormMembers, key: string): FormValue {
  return Object.hasOwn(members, key) ? (members[key] ?? null) : null
}

/** Returns a member that is a text; the empty one for another value. */
export function textOf(members: FormMembers, key: string): string {
  const value = memberOf(members, key)
  return typeof value === 'string' ? value : ''
}

export function isMembers(value: unknown): value is FormMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Only the value at one place is replaced or added, so that a following edit of this place can replace it. */
function placeOf(edit: YamlEdit | undefined): string {
  return edit?.op === 'set' ? JSON.stringify(edit.path) : ''
}
