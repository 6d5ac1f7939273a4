import { useQuery } from '@tanstack/react-query'
import { Ellipsis } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { chartsQuery, groupsOfChart, usePinCharts, type PinnedChart } from '../state/pinned-charts.ts'
import type { ViewChange, ViewState } from '../state/view-state.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { MenuItem } from '../ui/menu-item.tsx'
import { NameDialog } from '../views/name-dialog.tsx'
import { showError, showSuccess } from '../ui/toasts.tsx'
import { GroupChart } from './group-chart.tsx'

interface ChartsPanelProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
}

/** The most groups that a chart lists: below its picture, and without one. */
const MOST = { withPicture: 0, alone: 6 }

/** All pinned charts by name, with the filter of the grid. */
export function ChartsPanel(props: ChartsPanelProps) {
  const { data: charts, error, refetch } = useQuery(chartsQuery)
  if (charts === undefined && error !== null)
    return (
      <p className="groups-note" role="alert">
        Cannot read the charts: {messageOf(error)} <Button onClick={() => void refetch()}>Try again</Button>
      </p>
    )
  if (charts === undefined) return <div className="groups-body" aria-busy="true" />
  if (charts.length === 0)
    return (
      <p className="groups-note">
        No chart is pinned. Choose <em>Group by this column</em> in the menu of a column, then{' '}
        <em>Pin this chart</em>.
      </p>
    )
  return (
    <div className="groups-body">
      {charts.map((chart) => (
        <Chart key={chart.id} {...props} chart={chart} />
      ))}
    </div>
  )
}

function Chart({ contract, view, change, chart }: ChartsPanelProps & { readonly chart: PinnedChart }) {
  const groups = groupsOfChart(chart)
  const by = groups === null ? undefined : contract.fieldByName.get(groups.by)
  return (
    <section className="pinned-chart" aria-label={chart.name}>
      <header>
        <h3 title={chart.name}>{chart.name}</h3>
        <ChartMenu chart={chart} change={change} />
      </header>
      {groups === null || by === undefined ? (
        <p className="groups-note">
          The field of this chart was removed. It is back when the field is restored.
        </p>
      ) : (
        <GroupChart
          contract={contract}
          groups={groups}
          by={by}
          conditions={view.conditions}
          sql={view.sql}
          onFilter={(conditions) => change({ conditions })}
          most={MOST}
        />
      )}
    </section>
  )
}

function ChartMenu({ chart, change }: Pick<ChartsPanelProps, 'change'> & { readonly chart: PinnedChart }) {
  const [isNaming, setIsNaming] = useState(false)
  const { pin, rename, unpin } = usePinCharts()
  const groups = groupsOfChart(chart)
  const remove = async (): Promise<void> => {
    await unpin(chart)
    showSuccess(
      `Unpinned ${chart.name}`,
      groups === null
        ? undefined
        : { name: 'Undo', run: () => void pin(chart.name, groups).catch(showError) },
    )
  }
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <IconButton label={`Menu of ${chart.name}`}>
            <Ellipsis size={16} />
          </IconButton>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
            <MenuItem isDisabled={groups === null} onSelect={() => change({ groups, charts: false })}>
              Show its groups
            </MenuItem>
            <MenuItem isDisabled={groups === null} onSelect={() => setIsNaming(true)}>
              Rename…
            </MenuItem>
            <MenuItem onSelect={() => void remove().catch(showError)}>Unpin</MenuItem>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {isNaming && groups !== null && (
        <NameDialog
          title={`Rename ${chart.name}`}
          description="The chart is renamed for everyone who opens this sheet."
          name={chart.name}
          onClose={() => setIsNaming(false)}
          onName={async (name) => rename(chart, groups, name)}
        />
      )}
    </>
  )
}
