type t = Automatic | Native | Generic

let to_int = function Automatic -> 0 | Native -> 1 | Generic -> 2
