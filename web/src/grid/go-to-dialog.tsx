import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import '../ui/form.css'
import { formatCount } from '../ui/format.ts'

interface GoToDialogProps {
  readonly count: number
  readonly open: boolean
  readonly onClose: () => void
  /** Called with the row, from 0. */
  readonly onGo: (row: number) => void
}

const FORM = 'go-to-record'

/** Asks for a row number and scrolls there. */
export function GoToDialog({ count, open, onClose, onGo }: GoToDialogProps) {
  return (
    <Dialog
      title="Go to record number"
      description={`A number from 1 to ${formatCount(count)}.`}
      open={open}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={FORM}>
            Go
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          const number = Number(new FormData(event.currentTarget).get('number'))
          if (Number.isInteger(number) && number >= 1) onGo(number - 1)
        }}
      >
        <label>
          Record number
          <input name="number" type="number" min={1} max={Math.max(1, count)} step={1} required autoFocus />
        </label>
      </form>
    </Dialog>
  )
}
