import { Pin } from 'lucide-react'
import { useState } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { usePinCharts } from '../state/pinned-charts.ts'
import type { GroupsView } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { NameDialog } from '../views/name-dialog.tsx'
import { showSuccess } from '../ui/toasts.tsx'
import { chartName } from './chart-name.ts'

interface PinChartProps {
  readonly contract: SheetContract
  readonly groups: GroupsView
  /** Shows the pinned charts. */
  readonly onCharts: () => void
}

/** Keeps the choices of the panel in the sheet, under a name. */
export function PinChart({ contract, groups, onCharts }: PinChartProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { pin } = usePinCharts()
  return (
    <>
      <Button icon={<Pin size={14} />} onClick={() => setIsOpen(true)}>
        Pin this chart…
      </Button>
      {isOpen && (
        <NameDialog
          title="Pin this chart"
          description="A pinned chart is shown to everyone who opens this sheet, with the filter that their grid has."
          name={chartName(groups, contract.titleOf)}
          onClose={() => setIsOpen(false)}
          onName={async (name) => {
            await pin(name, groups)
            showSuccess(`Pinned ${name}`, { name: 'Show pinned charts', run: onCharts })
          }}
        />
      )}
    </>
  )
}
