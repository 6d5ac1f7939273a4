import { UserRound } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import { useActor } from '../state/actor.ts'
import { Button } from '../ui/button.tsx'
import '../ui/form.css'
import '../ui/popover.css'

/** Says who works here, and lets them say otherwise. */
export function ActorPicker() {
  const [actor, setActor] = useActor()
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger asChild>
        <Button look="quiet" icon={<UserRound size={15} />} className="actor" aria-label={`You are ${actor}`}>
          <span className="actor-name">{actor}</span>
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" align="end" sideOffset={6}>
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault()
              const name = new FormData(event.currentTarget).get('actor')
              if (typeof name === 'string' && name.trim() !== '') setActor(name.trim())
              setIsOpen(false)
            }}
          >
            <label>
              Who are you?
              <input
                name="actor"
                defaultValue={actor}
                maxLength={200}
                required
                autoFocus
                spellCheck={false}
              />
            </label>
            <p className="form-hint">
              What you write bears this name, and the contract may let only some names write a field. For
              example human:ann.
            </p>
            <Button look="primary" type="submit">
              Use this name
            </Button>
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
