import { ArrowDown, ArrowUp, X } from 'lucide-react'
import type { SheetContract } from '../../api/contract.ts'
import type { ViewChange, ViewState } from '../../state/view-state.ts'
import { formatSort, parseSort, withSort } from '../../state/sort-order.ts'

interface SortChipsProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
}

/** The sort order as chips: a click reverses a field, the cross removes it. */
export function SortChips({ contract, view, change }: SortChipsProps) {
  const terms = parseSort(view.sort)
  if (terms.length === 0) return null
  return (
    <ul className="sort-chips" aria-label="Sorted by">
      {terms.map((term) => {
        const { field, descending } = term
        const title = contract.titleOf(field)
        const Arrow = descending ? ArrowDown : ArrowUp
        return (
          <li key={field} className="sort-chip">
            <button
              type="button"
              title={`Sort ${descending ? 'ascending' : 'descending'} instead`}
              onClick={() =>
                change({ sort: formatSort(withSort(terms, { field, descending: !descending }, true)) })
              }
            >
              <Arrow size={13} aria-label={descending ? 'descending' : 'ascending'} />
              {title}
            </button>
            <button
              type="button"
              aria-label={`Remove ${title} from the sort order`}
              title={`Remove ${title} from the sort order`}
              onClick={() => change({ sort: formatSort(terms.filter((each) => each !== term)) })}
            >
              <X size={13} />
            </button>
          </li>
        )
      })}
    </ul>
  )
}
