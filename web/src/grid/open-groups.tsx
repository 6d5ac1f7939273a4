import { lazy, Suspense } from 'react'
import type { GridModel } from './interaction/use-grid.ts'

export const fetchGroups = () => import('../groups/groups-panel.tsx')
const GroupsPanel = lazy(fetchGroups)

/** The groups beside the grid while they are open; loaded after the first view. */
export function OpenGroups({ model: { contract, view, change, scroller } }: { readonly model: GridModel }) {
  if (view.groups === null && view.charts !== true) return null
  return (
    <Suspense fallback={<aside className="groups-waiting" aria-busy="true" />}>
      <GroupsPanel
        contract={contract}
        view={view}
        change={change}
        onClose={() => {
          change({ groups: null, charts: false })
          scroller.element?.focus({ preventScroll: true })
        }}
      />
    </Suspense>
  )
}
