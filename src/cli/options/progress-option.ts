import { Option } from 'commander'
import { PROGRESS_STYLES } from '../terminal/progress.ts'

/** Returns the option `--progress`. */
export function progressOption(): Option {
  return new Option(
    '--progress <style>',
    'how to show progress on standard error (default: bar at a terminal, else none)',
  ).choices(PROGRESS_STYLES)
}
