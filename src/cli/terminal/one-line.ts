/** A message as one line. Takes time in proportion to the text, of which a sheet can be the cause. */
export function inOneLine(text: string): string {
  const [first = '', ...more] = text.split('\n')
  if (more.length === 0) return text
  const last = more.pop() ?? ''
  const between = more.map((line) => line.trim()).filter((line) => line !== '')
  return [first.trimEnd(), ...between, last.trimStart()].join('; ')
}
