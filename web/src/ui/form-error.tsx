import './form.css'

/** An error message, announced by screen readers; nothing for null. */
export function FormError({ text, id }: { readonly text: string | null; readonly id?: string }) {
  if (text === null) return null
  return (
    <p className="form-error" id={id} role="alert">
      {text}
    </p>
  )
}
