import type { Screen } from './terminal.ts'
import { padToWidth, textWidth } from './text-width.ts'
import { shownValue } from './table.ts'
import { visibleText } from './visible-text.ts'

/** Returns an object as lines of a name and a value, uncut. */
export function membersOf(object: Readonly<Record<string, unknown>>, screen: Screen): string {
  const names = Object.keys(object).map(visibleText)
  const width = Math.max(0, ...names.map(textWidth))
  return Object.values(object)
    .map((value, index) => {
      const name = screen.paint('bold', padToWidth(names[index] ?? '', width))
      return `${name}  ${shownValue(value)}`.trimEnd()
    })
    .join('\n')
}
