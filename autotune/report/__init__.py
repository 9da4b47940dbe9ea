"""Reports: what is known of a run or an operator as one page of HTML."""
