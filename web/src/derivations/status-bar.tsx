import './status-bar.css'
import { COUNTED_STATES, countsText, type StatusCounts } from './status-text.ts'

/** A bar of the counts of cell states, with a text alternative. */
export function StatusBar({ counts }: { readonly counts: StatusCounts }) {
  const words = countsText(counts)
  return (
    <span className="status-bar" role="img" aria-label={words} title={words}>
      {COUNTED_STATES.map(
        (state) =>
          counts[state] > 0 && (
            // A minimum width keeps a small count visible beside a large one.
            <span key={state} className={state} style={{ flexGrow: counts[state], minWidth: 3 }} />
          ),
      )}
    </span>
  )
}
