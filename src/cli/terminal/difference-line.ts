import type { FolioAdoption } from '../../sheet/folio/adopt-folio-sheet.ts'
import type { Screen, Style } from './terminal.ts'
import { visibleText } from './visible-text.ts'

type Difference = FolioAdoption['differences'][number]

const STYLES: Readonly<Record<Difference['action'], Style>> = {
  cannot: 'yellow',
  adapted: 'cyan',
  kept: 'dim',
}

/** Returns a difference between two sheets in one line, which is not cut. */
export function differenceLine({ action, file, line, message }: Difference, screen: Screen): string {
  const place = file === null ? '' : `${line === null ? file : `${file}:${line}`}: `
  return `${screen.paint(STYLES[action], action.padEnd(7))}  ${visibleText(`${place}${message}`)}`
}
