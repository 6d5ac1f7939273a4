import { useQuery } from '@tanstack/react-query'
import { UserRound } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import { permissionsQuery } from '../api/queries.ts'
import { useActor } from '../state/actor.ts'
import { FormError } from '../ui/form-error.tsx'
import { Button } from '../ui/button.tsx'
import '../ui/form.css'
import '../ui/popover.css'

/** Shows the actor, and changes it unless the server fixes it. */
export function ActorPicker() {
  const [actor, setActor] = useActor()
  const { error } = useQuery(permissionsQuery(actor))
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger asChild>
        <Button look="quiet" icon={<UserRound size={15} />} className="actor" aria-label={`You are ${actor}`}>
          <span className="actor-name">{actor}</span>
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" align="end" sideOffset={6} aria-label="Actor">
          {setActor === null ? (
            <FixedActor actor={actor} />
          ) : (
            <ActorForm
              actor={actor}
              error={error?.message ?? null}
              onChoose={(name) => {
                setActor(name)
                setIsOpen(false)
              }}
            />
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function FixedActor({ actor }: { readonly actor: string }) {
  return (
    <div className="form">
      <p className="actor-fixed">
        You are <strong>{actor}</strong>.
      </p>
      <p className="form-hint">
        The reverse proxy in front of this server sets this name. Your changes are logged under it.
      </p>
    </div>
  )
}

interface ActorFormProps {
  readonly actor: string
  /** The server's error about the actor; null for none. */
  readonly error: string | null
  readonly onChoose: (actor: string) => void
}

function ActorForm({ actor, error, onChoose }: ActorFormProps) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        const name = new FormData(event.currentTarget).get('actor')
        if (typeof name === 'string' && name.trim() !== '') onChoose(name.trim())
      }}
    >
      <label>
        Who are you?
        <input name="actor" defaultValue={actor} maxLength={200} required autoFocus spellCheck={false} />
      </label>
      <FormError text={error} />
      <p className="form-hint">
        Your changes are logged under this name. The contract can limit who may write a field. Example:
        human:ann.
      </p>
      <Button look="primary" type="submit">
        Use this name
      </Button>
    </form>
  )
}
