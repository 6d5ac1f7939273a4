import { checkKeepFresh } from './keep-fresh.ts'
import { checkOverwriteManual } from './overwrite-manual.ts'
import { checkBounds, type RunSelection } from './run-selection.ts'

/** Throws ValidationError for a bound that is out of range, and for options that contradict each other. */
export function checkSelection(selection: RunSelection): void {
  checkBounds(selection)
  checkKeepFresh(selection)
  checkOverwriteManual(selection)
}
