import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useState, type FormEvent, type KeyboardEvent } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { RunOrder } from '../../../../src/client/client.ts'
import { permissionsQuery } from '../../api/queries.ts'
import { server } from '../../api/server.ts'
import type { SheetContract } from '../../api/contract.ts'
import { useActor } from '../../state/actor.ts'
import { FormError } from '../../ui/form-error.tsx'
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
  /** The reason to think twice; null for none. */
  readonly doubt: string | null
  readonly onClose: () => void
}

const FORM = 'run-order'

/** The dialog with the options, plan and cost of a run, and the button that starts it. */
export function OrderDialog({ contract, order: asked, title, doubt, onClose }: OrderDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [options, setOptions] = useState(() => optionsOf(asked))
  const [isStarting, setIsStarting] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const { run: running } = useRunningRun()
  const { order: chosen, errors } = withOptions(asked, options)
  const isValid = Object.keys(errors).length === 0
  const { reuse_responses: _, ...anew } = chosen
  const again = useRunPlan(anew, actor, isValid)
  const kept = again.plan === null ? null : keptResponses(again.plan)
  const reusing = useRunPlan({ ...anew, reuse_responses: true }, actor, isValid && kept !== null)
  const reuses = options.reuse && kept !== null
  const order = reuses ? chosen : anew
  const { plan, isCurrent, error: planError } = reuses ? reusing : again
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const manual = plan === null ? 0 : manualValuesOf(plan)
  const choosesManual = options.force && options.only === '' && (options.overwriteManual || manual > 0)
  const denied = plan === null || permissions === undefined ? [] : deniedFields(plan, permissions.write)
  const isReady = plan !== null && isCurrent && isValid && !isNothing(plan) && !isStarting
  const start = async (): Promise<void> => {
    if (!isReady) return
    setIsStarting(true)
    setError(null)
    try {
      runningStore.begin(await server.runs.start(order, { actor }))
      void client.invalidateQueries({ queryKey: ['runs'] })
      onClose()
    } catch (thrown) {
      setError(messageOf(thrown))
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
  const { titleOf } = contract
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
        {doubt !== null && <p className="run-doubt">{doubt}</p>}
        <RunOptionsForm options={options} errors={errors} onChange={setOptions} />
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
        <RunPlan plan={plan} isCurrent={isCurrent} error={planError} order={order} titleOf={titleOf} />
        {running !== null && (
          <p className="form-hint">
            Another run is in progress. This run waits until it ends, and fails if that takes too long.
          </p>
        )}
        <FormError text={error} />
      </form>
    </Dialog>
  )
}
