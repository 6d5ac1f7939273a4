import { Crosshair } from 'lucide-react'
import { IconButton } from '../../ui/button.tsx'
import type { FormPart } from './form-context.ts'
import { membersAt } from './form-text.ts'
import { mappingOf, mapTarget, type MappingField } from './mapping.ts'

/** The target that a click on a value of a response fills; null where there is no response. */
export interface MappingPick {
  readonly target: string | null
  readonly onTarget: (target: string) => void
}

interface MappingFormProps {
  readonly field: MappingField
  readonly part: FormPart
  readonly pick: MappingPick
}

/** The path or column of each target. */
export function MappingForm({ field, part, pick }: MappingFormProps) {
  const { contract, targets, at, members, edit } = part
  const mapping = mappingOf(field, members, targets)
  return (
    <fieldset className="form-mapping">
      <legend>{field.label}</legend>
      {targets.map((target) => (
        <div key={target} className="form-mapped">
          <label>
            {contract.titleOf(target)}
            <input
              value={mapping.get(target) ?? ''}
              spellCheck={false}
              onChange={(event) => {
                const value = event.target.value
                edit((file) => [mapTarget(field, membersAt(file, at), { at, targets, target, value })])
              }}
            />
          </label>
          {pick.target !== null && targets.length > 1 && (
            <IconButton
              label={`Fill ${contract.titleOf(target)} by a click on the response`}
              aria-pressed={pick.target === target}
              onClick={() => pick.onTarget(target)}
            >
              <Crosshair size={15} />
            </IconButton>
          )}
        </div>
      ))}
    </fieldset>
  )
}
