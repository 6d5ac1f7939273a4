/** Returns the path of a value in a response, from the keys and indexes to it; null where no path can name it. */
export function pathText(steps: readonly (string | number)[]): string | null {
  if (steps.length === 0) return '$'
  const texts = steps.map(String)
  if (texts.length === 1 && texts[0] === '$') return null
  return texts.some((text) => text === '' || /[.]|\{\{/.test(text)) ? null : texts.join('.')
}
