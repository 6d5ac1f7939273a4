import type { RunPlanAnswer } from '../../../../src/wire/runs/materialize.ts'
import { countOf } from '../../ui/format.ts'

interface ManualChoiceProps {
  /** The number of manual values that the run would keep or overwrite. */
  readonly values: number
  readonly overwrites: boolean
  /** The titles of fields with manual values that the actor may not write. */
  readonly denied: readonly string[]
  readonly actor: string
  readonly onChange: (overwrites: boolean) => void
}

/** Chooses whether a run that recomputes cells keeps or overwrites manual values. */
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

/** Returns the number of manual values that a run would keep or overwrite. */
export function manualValuesOf({
  manual_left: kept = 0,
  manual_overwritten: lost = 0,
}: RunPlanAnswer): number {
  return kept + lost
}

/** Returns the fields with manual values that the actor may not write. */
export function deniedFields({ targets }: RunPlanAnswer, writable: readonly string[]): readonly string[] {
  return Object.entries(targets).flatMap(([target, { manual_left: kept = 0 }]) =>
    kept > 0 && !writable.includes(target) ? [target] : [],
  )
}
