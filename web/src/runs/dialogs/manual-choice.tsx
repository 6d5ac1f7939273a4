import type { RunPlanAnswer } from '../../../../src/wire/runs/materialize.ts'
import { countOf } from '../../ui/format.ts'

interface ManualChoiceProps {
  /** How many values written by hand the run would keep or overwrite. */
  readonly values: number
  readonly overwrites: boolean
  /** The fields with such values that the actor may not write, by their titles. */
  readonly denied: readonly string[]
  readonly actor: string
  readonly onChange: (overwrites: boolean) => void
}

/** Whether a run that computes everything again keeps values written by hand, or overwrites them. */
export function ManualChoice({ values, overwrites, denied, actor, onChange }: ManualChoiceProps) {
  const isDenied = denied.length > 0
  return (
    <fieldset className="run-responses">
      <legend>Manual values</legend>
      <label>
        <input type="radio" name="manual" checked={!overwrites} onChange={() => onChange(false)} />
        Keep {countOf(values, 'manual value')}
      </label>
      <label>
        <input
          type="radio"
          name="manual"
          checked={overwrites}
          disabled={isDenied && !overwrites}
          onChange={() => onChange(true)}
        />
        <span>
          Recompute everything, <strong>overwriting {countOf(values, 'manual value')}</strong>
        </span>
      </label>
      {isDenied && (
        <p className="form-hint">
          {actor} may not edit {denied.join(', ')}, and so cannot overwrite these values.
        </p>
      )}
    </fieldset>
  )
}

/** The values written by hand that a run of a plan would keep or overwrite. */
export function manualValuesOf({
  manual_left: kept = 0,
  manual_overwritten: lost = 0,
}: RunPlanAnswer): number {
  return kept + lost
}

/** The fields of a plan with values written by hand that are not among those the actor may write. */
export function deniedFields({ targets }: RunPlanAnswer, writable: readonly string[]): readonly string[] {
  return Object.entries(targets).flatMap(([target, { manual_left: kept = 0 }]) =>
    kept > 0 && !writable.includes(target) ? [target] : [],
  )
}
