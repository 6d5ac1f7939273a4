/** Joins a message into one line, in linear time, since a sheet can supply the text. */
export function inOneLine(text: string): string {
  const [first = '', ...more] = text.split('\n')
  if (more.length === 0) return text
  const last = more.pop() ?? ''
  const between = more.map((line) => line.trim()).filter((line) => line !== '')
  return [first.trimEnd(), ...between, last.trimStart()].join('; ')
}
