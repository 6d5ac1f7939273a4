import { useQuery } from '@tanstack/react-query'
import { countQuery } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'

/** Records of a first run, whose results show whether the rest is worth its cost. */
const FIRST_RUN = 100

/** The most records of a run; null for all. */
export type RunLimit = number | null

interface RunButtonsProps {
  readonly disabled: boolean
  /** Called to save and then to show the plan of a run. */
  readonly onRun: (limit: RunLimit) => void
}

/** The buttons that save a new derivation and run it, for some records where there are many, and for all. */
export function RunButtons({ disabled, onRun }: RunButtonsProps) {
  const { data: count = 0 } = useQuery(countQuery(null))
  return (
    <>
      {count > FIRST_RUN && (
        <Button disabled={disabled} onClick={() => onRun(FIRST_RUN)}>
          Run {formatCount(FIRST_RUN)}…
        </Button>
      )}
      <Button look="primary" disabled={disabled} onClick={() => onRun(null)}>
        Run all…
      </Button>
    </>
  )
}
