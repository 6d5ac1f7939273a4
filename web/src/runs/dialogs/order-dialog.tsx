import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useState, type FormEvent, type KeyboardEvent } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { RunOrder } from '../../../../src/client/client.ts'
import { permissionsQuery } from '../../api/queries.ts'
import { server } from '../../api/server.ts'
import type { SheetContract } from '../../api/contract.ts'
import { useActor } from '../../state/actor.ts'
import { FormFault } from '../../ui/form-fault.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { deniedFields, ManualChoice, manualValuesOf } from './manual-choice.tsx'
import { isNothing, keptResponses, runButtonText } from '../display/plan-text.ts'
import { ResponseChoice } from './response-choice.tsx'
import './run-dialog.css'
import { RunOptionsForm } from './run-options-form.tsx'
import { optionsOf, withOptions } from './run-options.ts'
import { describeCells } from './run-order.ts'
import { RunPlan } from './run-plan.tsx'
import { useRunningRun } from '../progress/running-cells.ts'
import { runningStore } from '../progress/running-store.ts'
import { useRunPlan } from './use-run-plan.ts'

interface OrderDialogProps {
  readonly contract: SheetContract
  readonly order: RunOrder
  readonly title: string
  readonly onClose: () => void
}

const FORM = 'run-order'

/** The dialog with the options, plan and cost of a run, and the button that starts it. */
export function OrderDialog({ contract, order: asked, title, onClose }: OrderDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [options, setOptions] = useState(() => optionsOf(asked))
  const [isStarting, setIsStarting] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const { run: running } = useRunningRun()
  const { order: chosen, faults } = withOptions(asked, options)
  const isSound = Object.keys(faults).length === 0
  const { reuse_responses: _, ...anew } = chosen
  const again = useRunPlan(anew, actor, isSound)
  const kept = again.plan === null ? null : keptResponses(again.plan)
  const reusing = useRunPlan({ ...anew, reuse_responses: true }, actor, isSound && kept !== null)
  const reuses = options.reuse && kept !== null
  const order = reuses ? chosen : anew
  const { plan, isCurrent, error } = reuses ? reusing : again
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const manual = plan === null ? 0 : manualValuesOf(plan)
  const choosesManual = options.force && options.only === '' && (options.overwriteManual || manual > 0)
  const denied = plan === null || permissions === undefined ? [] : deniedFields(plan, permissions.write)
  const isReady = plan !== null && isCurrent && isSound && !isNothing(plan) && !isStarting
  const start = async (): Promise<void> => {
    if (!isReady) return
    setIsStarting(true)
    setFault(null)
    try {
      runningStore.begin(await server.runs.start(order, { actor }))
      void client.invalidateQueries({ queryKey: ['runs'] })
      onClose()
    } catch (thrown) {
      setFault(messageOf(thrown))
      setIsStarting(false)
    }
  }
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault()
    void start()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void start()
  }
  const titleOf = (field: string): string => contract.fieldByName.get(field)?.title ?? field
  return (
    <Dialog
      title={title}
      description={`${describeCells({ targets: order.targets ?? null, recordCount: order.record_ids?.length ?? null }, titleOf)}.`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={FORM} disabled={!isReady} icon={<Play size={14} />}>
            {plan === null || isNothing(plan) ? 'Run' : isStarting ? 'Starting…' : runButtonText(plan)}
          </Button>
        </>
      }
    >
      <form id={FORM} className="run-order" onSubmit={onSubmit} onKeyDown={onKeyDown}>
        <RunOptionsForm options={options} faults={faults} onChange={setOptions} />
        {choosesManual && (
          <ManualChoice
            values={manual}
            overwrites={options.overwriteManual}
            denied={denied.map(titleOf)}
            actor={actor}
            onChange={(overwriteManual) => setOptions({ ...options, overwriteManual })}
          />
        )}
        {again.plan !== null && kept !== null && (
          <ResponseChoice
            again={again.plan}
            reusing={reusing.plan}
            kept={kept}
            reuses={reuses}
            onChange={(reuse) => setOptions({ ...options, reuse })}
          />
        )}
        <RunPlan plan={plan} isCurrent={isCurrent} error={error} order={order} titleOf={titleOf} />
        {running !== null && (
          <p className="form-hint">
            Another run is in progress. This run waits until it ends, and fails if that takes too long.
          </p>
        )}
        <FormFault text={fault} />
      </form>
    </Dialog>
  )
}
