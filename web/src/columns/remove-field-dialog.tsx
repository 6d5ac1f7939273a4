import { messageOf } from '../api/api-error.ts'
import type { SheetField } from '../api/contract.ts'
import { RemovalDialog } from '../ui/removal-dialog.tsx'
import { withoutField } from './contract-with.ts'
import { lostValues } from './plan-text.ts'
import { PlanView } from './plan-view.tsx'
import { usePlan, useSaving } from './use-plan.ts'

interface RemoveFieldDialogProps {
  readonly field: SheetField
  readonly onClose: () => void
  readonly onRemoved: () => void
}

/** Shows the effect of removing a field, and removes it. */
export function RemoveFieldDialog({ field: { name, title }, onClose, onRemoved }: RemoveFieldDialogProps) {
  const planning = usePlan(JSON.stringify(['remove', name]), (document) => ({
    document: { ...withoutField(document, name) },
  }))
  const { save, isSaving, refused } = useSaving()
  const { plan, error, isCurrent } = planning
  // The number of values that the person agrees to lose is that of the plan.
  const confirm = plan === null ? {} : lostValues(plan.effect)
  const remove = async (): Promise<void> => {
    if (plan !== null) await save(plan, `Removed ${title}`, { confirm, onMade: onRemoved })
  }
  return (
    <RemovalDialog
      name={title}
      action="Remove field"
      effect={plan === null ? null : <PlanView effect={plan.effect} without="No value is lost." />}
      isReady={plan !== null && isCurrent && !isSaving}
      error={refused ?? (error === null ? null : messageOf(error))}
      onRemove={() => void remove()}
      onClose={onClose}
    />
  )
}
