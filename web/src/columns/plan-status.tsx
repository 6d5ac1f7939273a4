import type { ReactNode } from 'react'
import { messageOf } from '../api/api-error.ts'
import { FormError } from '../ui/form-error.tsx'
import { PlanView } from './plan-view.tsx'
import type { Planning } from './use-plan.ts'

/** The id of the state of a plan, which describes what is edited. */
export const PLAN = 'column-plan'

interface PlanStatusProps {
  /** The reason why there is no plan yet, or no valid one. */
  readonly problem: string | null
  readonly planning: Planning
  /** Whether something changes. */
  readonly isChanged: boolean
  /** The derivation file that the person changes; null for none. */
  readonly editedFile?: string | null
  /** The sentence for a change without an effect on values. */
  readonly without: string
  /** The reason why saving was refused. */
  readonly refused: string | null
  /** The ways to resolve conflicts. */
  readonly children?: ReactNode
}

/** The state of a plan: its error, the conflicts with the records, or its effect. */
export function PlanStatus({
  problem,
  planning,
  isChanged,
  editedFile,
  without,
  refused,
  children,
}: PlanStatusProps) {
  const { plan, error, isCurrent } = planning
  const effect = plan?.effect ?? null
  return (
    <>
      <FormError text={refused} />
      <div
        id={PLAN}
        className="column-plan"
        role="status"
        aria-busy={isChanged && problem === null && !isCurrent}
      >
        {problem !== null ? (
          <p className="form-error">{problem}</p>
        ) : !isChanged ? null : error !== null ? (
          <p className="form-error">{messageOf(error)}</p>
        ) : effect === null ? (
          <p className="form-hint">Checking…</p>
        ) : (
          <>
            {effect.conflicts.map((conflict) => (
              <p key={conflict} className="form-error">
                {conflict}
              </p>
            ))}
            <PlanView effect={effect} editedFile={editedFile} without={without} />
            {children}
          </>
        )}
      </div>
    </>
  )
}

/** Whether a plan can be carried out now. */
export function isReady({ plan, isCurrent }: Planning): boolean {
  return isCurrent && plan !== null && plan.effect.conflicts.length === 0
}
