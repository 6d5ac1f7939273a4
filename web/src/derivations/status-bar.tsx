import './status-bar.css'
import { COUNTED_STATES, countsText, type StatusCounts } from './status-words.ts'

/** How many cells are in which state, as a bar; in words for who points at it or cannot see it. */
export function StatusBar({ counts }: { readonly counts: StatusCounts }) {
  const words = countsText(counts)
  return (
    <span className="status-bar" role="img" aria-label={words} title={words}>
      {COUNTED_STATES.map(
        (state) =>
          counts[state] > 0 && (
            // The least there is stays visible beside a million.
            <span key={state} className={state} style={{ flexGrow: counts[state], minWidth: 3 }} />
          ),
      )}
    </span>
  )
}
