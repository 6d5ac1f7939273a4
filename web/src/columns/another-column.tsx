import { Plus } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { draftProblem, EMPTY_DRAFT, nameOfHeading } from './field-draft.ts'

interface AnotherColumnProps {
  /** The names that fields have already. */
  readonly names: readonly string[]
  readonly onAdd: (name: string, title: string) => void
}

/** Names a further column that the same computation fills. */
export function AnotherColumn({ names, onAdd }: AnotherColumnProps) {
  const [heading, setHeading] = useState('')
  const error = useId()
  const name = nameOfHeading(heading)
  const problem = draftProblem({ ...EMPTY_DRAFT, name }, names)
  const add = (): void => {
    if (name === '' || problem !== null) return
    onAdd(name, heading.trim() === name ? '' : heading.trim())
    setHeading('')
  }
  return (
    <div className="form another-column">
      <label>
        Fill another new column
        <span className="another-column-line">
          <input
            value={heading}
            maxLength={200}
            autoComplete="off"
            placeholder="Name"
            aria-describedby={error}
            onChange={(event) => setHeading(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add()
            }}
          />
          <Button icon={<Plus size={14} />} disabled={name === '' || problem !== null} onClick={add}>
            Add
          </Button>
        </span>
      </label>
      <FormError id={error} text={problem} />
    </div>
  )
}
