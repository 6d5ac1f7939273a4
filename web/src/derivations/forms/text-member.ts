import type { FormValue } from './form-text.ts'

/** Returns the text of a member as a form shows it: without the line break at its end that a block of lines has. */
export function shownText(value: FormValue): string {
  return typeof value === 'string' ? value.replace(/\n$/, '') : ''
}

/** Returns the value of a member for the text of a form; a text of several lines ends with a line break. An empty one is null, which counts as absent. */
export function textToStore(shown: string, before: FormValue): string | null {
  if (shown === '') return null
  const ends = typeof before === 'string' && before.endsWith('\n')
  return ends || shown.includes('\n') ? `${shown}\n` : shown
}
