import type { ComponentProps, ReactNode } from 'react'
import './button.css'

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly icon?: ReactNode
}

/** A button with a text and an optional icon. */
export function Button({ look = 'plain', icon, className = '', children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button ${look} ${className}`} {...rest}>
      {icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** The accessible name and tooltip. */
  readonly label: string
  readonly children: ReactNode
}

/** A button with only an icon. */
export function IconButton({ label, className = '', children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`button quiet icon-button ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      {children}
    </button>
  )
}
