(** Where the program of an interface runs: {!Program.Mode}. *)

type t =
  | Automatic  (** native if the driver can *)
  | Native  (** in the driver, or [attach] fails *)
  | Generic  (** before the network stack, for any driver *)

(**/**)

val to_int : t -> int
