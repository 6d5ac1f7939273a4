import { Option } from 'commander'
import { PROGRESS_STYLES } from '../terminal/progress.ts'

/** `--progress`. */
export function progressOption(): Option {
  return new Option(
    '--progress <style>',
    'how to tell of the progress on standard error; bar at a terminal, else none',
  ).choices(PROGRESS_STYLES)
}
